import { execFile } from "node:child_process"
import { mkdirSync } from "node:fs"
import { join } from "node:path"
import process from "node:process"
import { DatabaseSync } from "node:sqlite"
import { promisify } from "node:util"
import { Effect } from "effect"
import type { Bench } from "../Bench.ts"
import { BenchFailure } from "../BenchFailure.ts"
import type { YearCase } from "../cases.ts"
import { callApi } from "../load/callApi.ts"
import { minutely } from "../load/minutely.ts"
import { startReceiver } from "../load/Receiver.ts"
import { ownCpuSeconds } from "../processes/cpuSeconds.ts"
import { peakResidentMiB, residentMiB } from "../processes/residentMemory.ts"
import { enter, smallHost } from "../processes/smallHost.ts"
import { type Tocsin, tocsin } from "../processes/tocsin.ts"
import { worker } from "../processes/worker.ts"
import type { CaseResult, Figure } from "../report/Results.ts"
import type { Month, YearCommand } from "../year/Year.ts"

const FULL_SOAK_SECONDS = 600
const QUICK_DAYS = 30
/** From then on all but incidents is as full as it gets. */
const FULL_MONTH = 5
const RECEIVER_MILLIS = 50
const LISTS = [
  "/api/v1/incidents?state=open&limit=100",
  "/api/v1/incidents?limit=100",
  "/api/v1/agents?limit=100",
  "/api/v1/checks?limit=100",
  "/ops/v1/outbox?limit=100",
  "/ops/v1/audit?limit=100",
]
/** A second start removes a part of everything. */
const SHORTER = { SERVICE_RETENTION_HISTORY: "62d", SERVICE_RETENTION_INCIDENTS: "330d" }
const QUIET_SECONDS = 5

const millisOf = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<number, E, R> =>
  Effect.suspend(() => {
    const begun = performance.now()
    return Effect.map(effect, () => performance.now() - begun)
  })

/** How long the removal takes, and the longest that a request waited meanwhile. */
const watchRemoval = Effect.fnUntraced(function* (folder: string, { port, token }: Tocsin) {
  const reader = new DatabaseSync(join(folder, "data/tocsin.db"), { readOnly: true })
  const counts = reader.prepare(
    "SELECT (SELECT count(*) FROM check_event) + (SELECT count(*) FROM incident) AS n",
  )
  const begun = performance.now()
  let [longest, rows, since] = [0, -1, begun]
  for (let quiet = 0; quiet < QUIET_SECONDS; quiet++) {
    longest = Math.max(longest, yield* millisOf(callApi({ port, token, path: "/api/v1/health" })))
    yield* Effect.sleep("1 second")
    const now = Number(counts.get()?.["n"])
    if (now !== rows) [rows, since, quiet] = [now, performance.now(), 0]
  }
  reader.close()
  return { seconds: (since - begun) / 1_000, longest }
})

/** The server on a small host: at the real rate, under commands and lists, and after a restart. */
const measureSmallHost = Effect.fnUntraced(function* (bench: Bench, folder: string, minutes: number) {
  const { groups, version } = yield* smallHost
  const receiver = yield* startReceiver(RECEIVER_MILLIS)
  const secret = `whsec_${Buffer.alloc(32, 1).toString("base64")}`
  const environment = { SERVICE_WEBHOOK_URL: receiver.url, SERVICE_WEBHOOK_SECRET: secret }
  const options = { main: bench.main, folder, databaseUrl: undefined, profileFolder: undefined, groups }
  const command = (...args: ReadonlyArray<string>) => {
    const [program = "", ...rest] = enter(groups, [process.execPath, bench.main, ...args])
    const env = { PATH: process.env["PATH"], SERVICE_DATA_DIR: join(folder, "data") }
    const ran = Effect.tryPromise({
      try: () => promisify(execFile)(program, rest, { cwd: folder, env }),
      catch: (cause) => new BenchFailure({ message: String(cause) }),
    })
    return Effect.map(millisOf(ran), (millis) => millis / 1_000)
  }
  const first = yield* Effect.scoped(
    Effect.gen(function* () {
      const server = yield* tocsin({ ...options, environment })
      const memory = () => residentMiB(server.pid) ?? Number.NaN
      yield* Effect.sleep(bench.measures.settleSeconds * 1_000)
      const [rest, cpu, begun] = [memory(), ownCpuSeconds(server.pid) ?? 0, performance.now()]
      const latencies = yield* minutely(server.port, minutes)
      const share = ((ownCpuSeconds(server.pid) ?? 0) - cpu) / ((performance.now() - begun) / 1_000)
      const loaded = memory()
      const lists = yield* Effect.forEach(LISTS, (path) => millisOf(callApi({ ...server, path })))
      return [
        { name: "ms to ready", value: server.startMillis },
        { name: "MiB at rest", value: rest },
        { name: "MiB at the real rate", value: loaded },
        { name: "% of a core at the real rate", value: share * 100 },
        ...([0.5, 0.95, 0.99] as const).map((part) => ({
          name: `p${part * 100} ms`,
          value: latencies.quantile(part),
        })),
        { name: "list ms at most", value: Math.max(...lists) },
        { name: "s of doctor", value: yield* command("doctor") },
        { name: "s of backup", value: yield* command("backup", join(folder, "backup.db")) },
        { name: "MiB at most", value: peakResidentMiB(server.pid) ?? Number.NaN },
      ] satisfies ReadonlyArray<Figure>
    }),
  )
  yield* bench.tell(`control groups of version ${version}, ${yield* receiver.received} webhooks`)
  const server = yield* tocsin({ ...options, environment: { ...environment, ...SHORTER } })
  const removal = yield* watchRemoval(folder, server)
  return [
    ...first,
    { name: "ms to ready again", value: server.startMillis },
    { name: "s of removal", value: removal.seconds },
    { name: "ms that a request waited meanwhile", value: removal.longest },
  ] satisfies ReadonlyArray<Figure>
})

/** Plays the year, then runs the server on what it left. */
export const measureYear = Effect.fnUntraced(function* (bench: Bench, one: YearCase) {
  const { soakSeconds } = bench.measures
  const folder = yield* bench.folder
  mkdirSync(join(folder, "data"))
  const days = soakSeconds >= FULL_SOAK_SECONDS ? one.days : QUICK_DAYS
  const months = yield* Effect.flatMap(
    worker<YearCommand, ReadonlyArray<Month>>(new URL("../year/yearProcess.ts", import.meta.url)),
    ({ ask }) => ask({ file: join(folder, "data/tocsin.db"), days, endMillis: Date.now() }),
  ).pipe(Effect.scoped)
  for (const month of months) yield* bench.tell(JSON.stringify(month))
  const growth = (of: "residentMiB" | "heapMiB" | "databaseMiB", from: number): Figure => ({
    name: `${of} ÷ month ${from}`,
    value: (months.at(-1)?.[of] ?? Number.NaN) / ((months[from - 1] ?? months[0])?.[of] ?? Number.NaN),
    target: { bound: "at most", value: 1.05 },
  })
  const stops = months.map((month) => month.longestStopMillis)
  const result: CaseResult = {
    name: one.name,
    operations: "results",
    series: [],
    figures: [
      growth("residentMiB", FULL_MONTH),
      growth("heapMiB", FULL_MONTH),
      growth("databaseMiB", months.length - 1),
      { name: "ms that the event loop stood still", value: Math.max(...stops) },
      ...(yield* measureSmallHost(bench, folder, Math.max(1, Math.round(soakSeconds / 120)))),
    ],
  }
  return result
})
