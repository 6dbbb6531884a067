import { readFileSync, writeFileSync } from "node:fs"
import { get } from "node:http"
import { join } from "node:path"
import { gunzipSync } from "node:zlib"
import { assert, describe, it } from "@effect/vitest"
import { skippedFor } from "@tocsin/testing/StorageUnderTest"
import { Effect, Redacted } from "effect"
import { freePort } from "../../bench/src/processes/freePort.ts"
import { programPath } from "../../scripts/programs.mjs"
import { type Agent, eventOf, push } from "../processes/Agent.ts"
import { call, operate, OPERATOR_TOKEN } from "../processes/api.ts"
import { scratchFolder, scratchPostgres } from "../processes/scratch.ts"
import { secretOf } from "../processes/secrecy.ts"
import { type ServerProcess, startServer } from "../processes/ServerProcess.ts"
import { until } from "../processes/until.ts"
import { whyNotAtLength } from "../properties/atLength.ts"
import { startProgram, withoutPrometheus } from "../senders/Prometheus.ts"

const SCRAPER = secretOf("scraper")
const environment = {
  SERVICE_AUTH_TOKEN: OPERATOR_TOKEN,
  SERVICE_METRICS_TOKEN: SCRAPER,
  SERVICE_CHECK_METRICS: "true",
  SERVICE_CHECK_METRICS_LABELS: "team, env.name",
}
const PATH = "/metrics/checks"

/** An agent with labels, and a critical check that states a number. */
const fill = Effect.fnUntraced(function* (server: ServerProcess) {
  const agent: Agent = { agent_id: "web-1", key: secretOf("web-1") }
  const json = {
    agent_id: "web-1",
    observed_at: "2026-01-01T00:00:00Z",
    hostname: "web-1",
    features: { push: true, metrics: false },
    labels: { team: 'a "b"\\', "env.name": "" },
  }
  yield* Effect.orDie(call(server, "POST", "/api/v1/heartbeat", { token: agent.key, json }))
  yield* operate(server, "POST", "/api/v1/agents/web-1/accept")
  const output = "DISK OK | used=42%;80;90"
  yield* Effect.orDie(push(server, agent, [{ ...eventOf({ check_id: "disk", status: "critical" }), output }]))
  return agent
})

const scrape = (server: ServerProcess, query = "") =>
  Effect.map(operate(server, "GET", `${PATH}${query}`), ({ text }) => text)

const linesOf = (text: string) => text.split("\n").filter((line) => line !== "" && !line.startsWith("#"))

/** A request with header fields of its own, which fetch would change. */
const raw = (server: ServerProcess, headers: Readonly<Record<string, string>>) =>
  Effect.promise(
    () =>
      new Promise<{ readonly headers: NodeJS.Dict<string | ReadonlyArray<string>>; readonly body: Buffer }>(
        (resolve, reject) => {
          get(
            `${server.baseUrl}${PATH}`,
            { headers: { authorization: `Bearer ${SCRAPER}`, ...headers } },
            (answer) => {
              const pieces: Array<Buffer> = []
              answer.on("data", (piece: Buffer) => pieces.push(piece))
              answer.on("end", () => resolve({ headers: answer.headers, body: Buffer.concat(pieces) }))
            },
          ).on("error", reject)
        },
      ),
  )

/** Prometheus' answer to a query. */
interface Answer {
  readonly status: string
  readonly data?: { readonly result: ReadonlyArray<{ readonly value?: readonly [number, string] }> }
}

/** The values by which charts of the console draw the series `used`: the least, the greatest and the last. */
const drawn = (server: ServerProcess, from: string) =>
  Effect.map(
    operate(server, "GET", `/ops/v1/numbers?agent_id=web-1&check_id=disk&from=${from}&step=5m`),
    ({ text }) => {
      const { series }: { series: ReadonlyArray<{ name: string; spans: ReadonlyArray<Span> }> } =
        JSON.parse(text)
      const spans = series.find(({ name }) => name === "used")?.spans ?? []
      return [
        Math.min(...spans.map(({ min }) => min)),
        Math.max(...spans.map(({ max }) => max)),
        spans.at(-1)?.last,
      ]
    },
  )

interface Span {
  readonly min: number
  readonly max: number
  readonly last: number
}

const withoutDrawing = whyNotAtLength ?? withoutPrometheus

describe("metrics of checks", () => {
  for (const [name, why, settings] of [
    ["SQLite", undefined, Effect.succeed({})],
    [
      "PostgreSQL",
      whyNotAtLength,
      Effect.map(scratchPostgres, ({ url }) => ({ DATABASE_URL: Redacted.value(url) })),
    ],
  ] as const)
    it.live.skipIf(why !== undefined)(`state each check on ${name}${skippedFor(why)}`, () =>
      Effect.gen(function* () {
        const server = yield* startServer({
          cwd: yield* scratchFolder,
          environment: { ...environment, ...(yield* settings) },
        })
        yield* fill(server)
        const text = yield* scrape(server)
        const disk = 'agent_id="web-1",check_id="disk"'
        const at = /timestamp_seconds\{[^}]*\} (\S+)/.exec(text)?.[1] ?? ""
        assert.isBelow(Math.abs(Number(at) - Date.now() / 1_000), 600)
        assert.deepStrictEqual(linesOf(text), [
          `tocsin_check_info{${disk},label_team="a \\"b\\"\\\\"} 1`,
          `tocsin_check_status{${disk}} 2`,
          `tocsin_check_late{${disk}} 0`,
          `tocsin_check_last_result_timestamp_seconds{${disk}} ${at}`,
          `tocsin_check_number{${disk},name="duration",unit="s"} 0.012`,
          `tocsin_check_number{${disk},name="used",unit="%"} 42`,
        ])
        assert.deepStrictEqual(linesOf(yield* scrape(server, "?match=check_id+glob+x*")), [])
        assert.strictEqual(
          linesOf(yield* scrape(server, "?match=check_id+glob+d*&match=agent_id+%3D+web-1")).length,
          6,
        )
        const open = yield* raw(server, { accept: "application/openmetrics-text;version=1.0.0" })
        assert.match(String(open.headers["content-type"]), /^application\/openmetrics-text; version=1\.0\.0/)
        assert.isTrue(open.body.toString().endsWith("\n# EOF\n"))
        const packed = yield* raw(server, { "accept-encoding": "gzip" })
        assert.strictEqual(packed.headers["content-encoding"], "gzip")
        assert.strictEqual(packed.headers["cache-control"], "no-store")
        assert.strictEqual(gunzipSync(packed.body).toString(), text)
        yield* server.stop
      }),
    )

  it.live(`are drawn by a real Prometheus, as the dashboard asks${skippedFor(withoutDrawing)}`, () =>
    Effect.gen(function* () {
      if (withoutDrawing !== undefined) return
      const folder = yield* scratchFolder
      const server = yield* startServer({ cwd: folder, environment })
      const from = new Date(Date.now() - 600_000).toISOString()
      const agent = yield* fill(server)
      const port = yield* Effect.promise(freePort)
      const job = {
        job_name: "tocsin-checks",
        metrics_path: PATH,
        authorization: { credentials: SCRAPER },
        static_configs: [{ targets: [new URL(server.baseUrl).host] }],
      }
      // As of another database, whose checks have the same names.
      const other = { ...job, job_name: "tocsin-checks-2" }
      // JSON is YAML.
      writeFileSync(
        join(folder, "prometheus.yml"),
        JSON.stringify({ global: { scrape_interval: "1s" }, scrape_configs: [job, other] }),
      )
      yield* startProgram(programPath("prometheus") ?? "prometheus", [
        `--config.file=${join(folder, "prometheus.yml")}`,
        `--storage.tsdb.path=${join(folder, "prometheus")}`,
        `--web.listen-address=127.0.0.1:${port}`,
      ])
      const ask = (query: string) =>
        Effect.promise(async (): Promise<Answer> => {
          const url = `http://127.0.0.1:${port}/api/v1/query?query=${encodeURIComponent(query)}`
          const text = await fetch(url).then(
            (answer) => answer.text(),
            () => "",
          )
          // Until it is ready, it answers with a sentence.
          return text.startsWith("{") ? JSON.parse(text) : { status: "not ready" }
        })
      yield* until(
        "Prometheus has the checks",
        Effect.map(ask("tocsin_check_number"), ({ data }) => data?.result.length === 4),
      )
      const dashboard: { panels: ReadonlyArray<{ targets: ReadonlyArray<{ expr: string }> }> } = JSON.parse(
        readFileSync("deploy/grafana/tocsin-checks.json", "utf8"),
      )
      for (const { expr } of dashboard.panels.flatMap(({ targets }) => targets)) {
        const { data, status } = yield* ask(expr.replaceAll(/\$\w+/g, ".*"))
        assert.strictEqual(status, "success", expr)
        assert.isAbove(data?.result.length ?? 0, 0, expr)
      }
      const used = 'tocsin_check_number{name="used",job="tocsin-checks"}'
      for (const value of [7, 91.5, 60]) {
        const observed_at = new Date().toISOString()
        const event = {
          ...eventOf({ check_id: "disk", status: "ok" }),
          observed_at,
          output: `OK | used=${value}%`,
        }
        yield* Effect.orDie(push(server, agent, [event]))
        yield* until(
          "Prometheus has the value",
          Effect.map(ask(used), ({ data }) => Number(data?.result[0]?.value?.[1]) === value),
        )
      }
      const seen = yield* Effect.forEach(["min", "max", "last"], (of) =>
        Effect.map(ask(`${of}_over_time(${used}[1h])`), ({ data }) => Number(data?.result[0]?.value?.[1])),
      )
      assert.deepStrictEqual(yield* drawn(server, from), seen)
      assert.deepStrictEqual(seen, [7, 91.5, 60])
      yield* server.stop
    }),
  )
})
