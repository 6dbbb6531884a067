import { spawnSync } from "node:child_process"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { freePort } from "../../bench/src/processes/freePort.ts"
import { addIntegration, OPERATOR_TOKEN, operate } from "../processes/api.ts"
import { scratchFolder } from "../processes/scratch.ts"
import { type ServerProcess, startServer } from "../processes/ServerProcess.ts"
import { until } from "../processes/until.ts"
import { AT_LENGTH, whyNotAtLength } from "../properties/atLength.ts"
import { type Rule, startProgram, startPrometheus, withoutPrometheus } from "./Prometheus.ts"
import { lacking, programPath } from "../../scripts/programs.mjs"
import { skippedFor } from "@tocsin/testing/StorageUnderTest"

const noAlertmanager = lacking("prometheus-alertmanager")
const noCurl = lacking("curl")
const noBorgmatic = lacking("borgmatic", "borg")

const named = (name: string, why: string | undefined) => name + skippedFor(why)

interface Shown {
  readonly check_id: string
  readonly status: string
  readonly summary?: string
  readonly is_overdue: boolean
  readonly labels: Readonly<Record<string, string>>
}

/** A server with an integration of a kind, whose agents are stale soon. */
const site = Effect.fnUntraced(function* (kind: string, options: object = {}) {
  const cwd = yield* scratchFolder
  const environment = { SERVICE_AUTH_TOKEN: OPERATOR_TOKEN, SERVICE_STALE_AFTER: "2s" }
  const server = yield* startServer({ cwd, environment })
  return { server, key: yield* addIntegration(server, { name: "sender", kind, options }) }
})

const checks = Effect.fnUntraced(function* (server: ServerProcess) {
  const { text } = yield* operate(server, "GET", "/ops/v1/checks?agent_id=sender")
  return (JSON.parse(text) as { readonly items: ReadonlyArray<Shown> }).items
})

/** Waits until the checks, by the names of their alerts, are these. */
const shows = (server: ServerProcess, expected: Readonly<Record<string, string>>) => {
  let last: object = {}
  return until(
    `the checks are ${JSON.stringify(expected)}`,
    Effect.map(checks(server), (found) => {
      last = Object.fromEntries(
        found.map(({ check_id, is_overdue, status, summary }) => {
          const name = check_id.replace(/\.[0-9a-f]{12}$/, "")
          const isLapsed = summary === "no longer sent by the source"
          return [name, is_overdue ? `${status} as last heard` : isLapsed ? "lapsed" : status]
        }),
      )
      return (
        JSON.stringify(Object.entries(last).toSorted()) ===
        JSON.stringify(Object.entries(expected).toSorted())
      )
    }),
    "4 minutes",
  )
}

const PATH = "/in/alertmanager"
const ALWAYS: Rule = { alert: "Always", expr: "vector(1)", labels: { severity: "warning", team: "web" } }
const LOAD: Rule = {
  alert: "Load",
  expr: "vector(1)",
  labels: { team: "db" },
  annotations: { summary: "load is {{ $value }}" },
}

/** Parses, and finds two values for one label set when it is evaluated. */
const FAILING = `vector(1) + on() (label_replace(vector(1), "n", "1", "", "") or vector(2))`
/** The alert that the page recommends beside every other rule. */
const FAILURES: Rule = {
  alert: "Failures",
  expr: "sum(increase(prometheus_rule_evaluation_failures_total[10s])) > 0",
}

describe("a real Prometheus", () => {
  it.live.skipIf(withoutPrometheus !== undefined)(
    named("reports rules that fire and resolve", withoutPrometheus),
    () =>
      Effect.gen(function* () {
        const { key, server } = yield* site("alertmanager")
        const to = { port: server.port, pathPrefix: PATH, key }
        const prometheus = yield* startPrometheus(to, [ALWAYS, LOAD])
        yield* shows(server, { Always: "warning", Load: "critical" })
        const load = (yield* checks(server)).find(({ check_id }) => check_id.startsWith("Load."))
        assert.deepStrictEqual([load?.summary?.split("\n")[0], load?.labels["team"]], ["load is 1", "db"])
        yield* prometheus.follow([ALWAYS, { ...LOAD, expr: "vector(1) > 2" }])
        yield* shows(server, { Always: "warning", Load: "ok" })
      }),
    600_000,
  )

  it.live.skipIf(withoutPrometheus !== undefined || !AT_LENGTH)(
    named(
      "that is killed, restarted or loses a rule resolves nothing that still fires",
      withoutPrometheus ?? whyNotAtLength,
    ),
    () =>
      Effect.gen(function* () {
        const { key, server } = yield* site("alertmanager", { resend: "15s" })
        const to = { port: server.port, pathPrefix: PATH, key }
        const first = yield* startPrometheus(to, [ALWAYS, LOAD])
        const second = yield* startPrometheus(to, [ALWAYS])
        yield* shows(server, { Always: "warning", Load: "critical" })
        // One of two is killed; the other goes on without the first one's alert.
        yield* first.kill
        yield* shows(server, { Always: "warning", Load: "critical as last heard" })
        // Both are down.
        yield* second.kill
        yield* shows(server, { Always: "warning as last heard", Load: "critical as last heard" })
        // Both are back, at other addresses: their alerts fire again.
        const third = yield* startPrometheus(to, [ALWAYS, LOAD])
        yield* shows(server, { Always: "warning", Load: "critical" })
        // A rule is removed: nothing tells so but the source that is still heard.
        yield* third.follow([ALWAYS])
        yield* shows(server, { Always: "warning", Load: "lapsed" })
      }),
    600_000,
  )
})

describe("a rule of a real Prometheus", () => {
  it.live.skipIf(withoutPrometheus !== undefined || !AT_LENGTH)(
    named(
      "that fails looks as one that was removed, and an alert on failures says so before",
      withoutPrometheus ?? whyNotAtLength,
    ),
    () =>
      Effect.gen(function* () {
        const { key, server } = yield* site("alertmanager", { resend: "15s" })
        const to = { port: server.port, pathPrefix: PATH, key }
        const prometheus = yield* startPrometheus(to, [ALWAYS, LOAD, FAILURES])
        yield* shows(server, { Always: "warning", Load: "critical" })
        yield* prometheus.follow([ALWAYS, { ...LOAD, expr: FAILING }, FAILURES])
        yield* shows(server, { Always: "warning", Load: "critical", Failures: "critical" })
        yield* shows(server, { Always: "warning", Load: "lapsed", Failures: "critical" })
        yield* prometheus.follow([ALWAYS, LOAD, FAILURES])
        yield* shows(server, { Always: "warning", Load: "critical", Failures: "ok" })
      }),
    600_000,
  )
})

describe("a real Alertmanager", () => {
  const why = withoutPrometheus ?? noAlertmanager
  it.live.skipIf(why !== undefined)(
    named("sends its webhook", why),
    () =>
      Effect.gen(function* () {
        const { key, server } = yield* site("webhook")
        const folder = yield* scratchFolder
        const file = join(folder, "alertmanager.yml")
        const receiver = {
          name: "tocsin",
          webhook_configs: [
            {
              url: `http://127.0.0.1:${server.port}/in/webhook`,
              send_resolved: true,
              http_config: { authorization: { credentials: key } },
            },
          ],
        }
        const route = { receiver: "tocsin", group_wait: "0s", group_interval: "1s" }
        writeFileSync(file, JSON.stringify({ route, receivers: [receiver] }))
        const port = yield* Effect.promise(freePort)
        yield* startProgram(programPath("prometheus-alertmanager") ?? "prometheus-alertmanager", [
          `--config.file=${file}`,
          `--storage.path=${join(folder, "data")}`,
          `--web.listen-address=127.0.0.1:${port}`,
          "--cluster.listen-address=",
        ])
        const prometheus = yield* startPrometheus({ port, pathPrefix: "/" }, [LOAD])
        yield* shows(server, { Load: "critical" })
        yield* prometheus.follow([{ ...LOAD, expr: "vector(1) > 2" }])
        yield* shows(server, { Load: "ok" })
      }),
    600_000,
  )
})

describe("curl", () => {
  it.live.skipIf(noCurl !== undefined)(named("pings as Healthchecks documents it", noCurl), () =>
    Effect.gen(function* () {
      const { key, server } = yield* site("ping")
      const url = `http://127.0.0.1:${server.port}/in/ping/${key}/backup`
      const curl = (...args: ReadonlyArray<string>) =>
        Effect.sync(() => spawnSync("curl", args, { encoding: "utf8" }).stdout)
      // The forms of healthchecks.io/docs/bash and /docs/attaching_logs.
      assert.strictEqual(yield* curl("-fsS", "-m", "10", "--retry", "5", url), "OK")
      yield* shows(server, { backup: "ok" })
      assert.strictEqual(
        yield* curl("-fsS", "-m", "10", "--retry", "5", "--data-raw", "full", `${url}/1`),
        "OK",
      )
      yield* shows(server, { backup: "critical" })
      assert.strictEqual((yield* checks(server))[0]?.summary, "exit 1: full\nfull")
    }),
  )
})

describe("a real borgmatic", () => {
  it.live.skipIf(noBorgmatic !== undefined)(
    named("reports its start, the log of a backup, and one that failed", noBorgmatic),
    () =>
      Effect.gen(function* () {
        const { key, server } = yield* site("ping")
        const folder = yield* scratchFolder
        writeFileSync(join(folder, "kept.txt"), "a file to keep")
        const backUp = Effect.fnUntraced(function* (repository: string) {
          const file = join(folder, "borgmatic.yaml")
          const ping_url = `http://127.0.0.1:${server.port}/in/ping/${key}/home`
          const location = { source_directories: [join(folder, "kept.txt")], repositories: [repository] }
          writeFileSync(file, JSON.stringify({ location, hooks: { healthchecks: { ping_url } } }))
          const args = ["--config", file, "--no-color", "--monitoring-verbosity", "1", "create"]
          const env = {
            ...process.env,
            BORG_BASE_DIR: folder,
            BORG_UNKNOWN_UNENCRYPTED_REPO_ACCESS_IS_OK: "yes",
          }
          return yield* Effect.sync(() => spawnSync("borgmatic", args, { encoding: "utf8", env }).status)
        })
        const repository = join(folder, "repository")
        spawnSync("borg", ["init", "--encryption", "none", repository], {
          env: { ...process.env, BORG_BASE_DIR: folder },
        })
        assert.strictEqual(yield* backUp(repository), 0)
        yield* shows(server, { home: "ok" })
        const [backed] = yield* checks(server)
        assert.include(backed?.summary ?? "", "Creating archive")
        assert.strictEqual(yield* backUp(join(folder, "nowhere")), 1)
        yield* shows(server, { home: "critical" })
        const [failed] = yield* checks(server)
        assert.include(failed?.summary ?? "", "nowhere")
      }),
  )
})
