import { writeFileSync } from "node:fs"
import { request } from "node:http"
import { join } from "node:path"
import { Effect } from "effect"
import type { Bench } from "../Bench.ts"
import { BenchFailure } from "../BenchFailure.ts"
import type { StatusPageCase } from "../cases.ts"
import type { RawCommand } from "../limits/RawCommand.ts"
import { enrol } from "../load/enrol.ts"
import { agentId } from "../load/Load.ts"
import type { LoadResult } from "../load/LoadRun.ts"
import { STATUS_PAGE } from "../load/protocols/statusPages.ts"
import { worker } from "../processes/worker.ts"
import type { CaseResult } from "../report/Results.ts"
import { measureBesideReaders } from "./besideReaders.ts"
import { failureOf, newKeys, sampleOf, startServer, target } from "./target.ts"
import { ratio } from "./throughput.ts"

const policyOf = (lines: number): string =>
  JSON.stringify({
    pages: {
      bench: {
        title: "Bench",
        groups: [
          {
            title: "Services",
            lines: Array.from({ length: lines }, (_, n) => ({
              name: `Service ${n}`,
              match: [`agent_id = ${agentId(n)}`, "check_id glob *0"],
            })),
          },
        ],
      },
    },
  })

/** The answer to a reader that takes compressed bytes: what the raw server answers too. */
const answerOf = (port: number): Effect.Effect<NonNullable<RawCommand["page"]>, BenchFailure> =>
  Effect.tryPromise({
    try: () =>
      new Promise<NonNullable<RawCommand["page"]>>((resolve, reject) => {
        const headers = { "accept-encoding": "gzip" }
        request({ host: "127.0.0.1", port, path: STATUS_PAGE, headers }, (response) => {
          const parts: Array<Buffer> = []
          response.on("data", (part: Buffer) => parts.push(part))
          response.on("end", () => {
            const { connection: _, "keep-alive": __, ...fields } = response.headers
            if (response.statusCode === 200)
              resolve({
                fields: fields as Record<string, string>,
                body: Buffer.concat(parts).toString("base64"),
              })
            else reject(new Error(`the page was answered with ${response.statusCode}`))
          })
        })
          .on("error", reject)
          .end()
      }),
    catch: (cause) => new BenchFailure({ message: String(cause) }),
  })

/**
 * Measures readers of a public page, in turn with node:http that answers the same bytes and fields; then results and
 * lists without and with readers.
 */
export const measureStatusPage = Effect.fnUntraced(function* (bench: Bench, one: StatusPageCase) {
  const { agents, repeats, seconds, warmUpSeconds } = bench.measures
  const file = join(yield* bench.folder, "policy.json")
  writeFileSync(file, policyOf(one.lines))
  const { postgres, server } = yield* startServer(bench, one.storage, { SERVICE_POLICY_FILE: file })
  const keys = newKeys(agents)
  yield* enrol(server, keys)
  const page = yield* answerOf(server.port)
  const watched = { server: server.pid, ...(postgres !== undefined && { postgres: postgres.pid }) }
  const raw = yield* worker<RawCommand, number>(new URL("../limits/rawProcess.ts", import.meta.url))
  const rawPort = yield* raw.ask({ step: "heartbeat", page })
  const limit = yield* target([rawPort], keys, { server: raw.pid })
  const subject = yield* target([server.port], keys, watched)
  const [subjects, limits]: [Array<LoadResult>, Array<LoadResult>] = [[], []]
  for (let repeat = 1; repeat <= repeats; repeat += 1) {
    const pressure = {
      load: ["heartbeat"],
      protocol: "statusPages",
      connections: one.connections,
      seconds,
      warmUpSeconds: repeat === 1 ? 2 * warmUpSeconds : warmUpSeconds,
    } as const
    limits.push(yield* limit.run(pressure))
    subjects.push(yield* subject.run(pressure))
  }
  const reporting = yield* target([server.port], keys, watched)
  const beside = yield* measureBesideReaders(bench, server, reporting, subject)
  const samples = subjects.map(sampleOf)
  const rawSamples = limits.map(sampleOf)
  const failure = failureOf(["heartbeat"], [...subjects, ...limits, ...beside.loads]) ?? beside.firstFailure
  const result: CaseResult = {
    name: one.name,
    operations: "pages",
    series: [
      { name: "subject", samples, peakMiB: subject.peakMiB() },
      { name: "raw", samples: rawSamples, peakMiB: limit.peakMiB() },
      ...beside.series,
    ],
    figures: [ratio("× raw", one.ofRaw, samples, rawSamples, "server"), ...beside.figures],
    ...(failure !== undefined && { failure }),
  }
  return result
})
