import { randomBytes } from "node:crypto"
import { join } from "node:path"
import { Effect, type Scope } from "effect"
import type { Bench } from "../Bench.ts"
import type { BenchFailure } from "../BenchFailure.ts"
import type { RawCommand } from "../limits/RawCommand.ts"
import { enrol } from "../load/enrol.ts"
import type { Load, Step } from "../load/Load.ts"
import type { LoadCommand, LoadReply } from "../load/LoadCommand.ts"
import type { LoadResult, LoadRun } from "../load/LoadRun.ts"
import { peakResidentMiB, treeResidentMiB } from "../processes/residentMemory.ts"
import { type StorageName, type Tocsin, tocsin } from "../processes/tocsin.ts"
import { worker } from "../processes/worker.ts"
import type { Sample } from "../report/Results.ts"

/** How a target is loaded. */
export type Pressure = Pick<
  LoadRun,
  "load" | "protocol" | "connections" | "requests" | "requestsPerSecond" | "warmUpSeconds" | "seconds"
> &
  // A part of the servers, if several run.
  Partial<Pick<LoadRun, "ports">>

/** Something that answers requests, and the load generator that sends them. */
export interface Target {
  readonly run: (pressure: Pressure) => Effect.Effect<LoadResult, BenchFailure>
  /** The most that each process had resident so far, in MiB. */
  readonly peakMiB: () => Readonly<Record<string, number>>
}

/** A server with its agents enrolled. */
export interface Subject extends Target {
  readonly server: Tocsin
}

/** Where a server will keep its data. */
export interface Place {
  readonly dataFolder: string
  /** Of PostgreSQL, if it is that. */
  readonly databaseUrl: string | undefined
}

const KEY_BYTES = 32

const present = (entries: Readonly<Record<string, number | undefined>>): Readonly<Record<string, number>> =>
  Object.fromEntries(
    Object.entries(entries).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  )

/** The load generator as these agents, against these ports. */
export const target = Effect.fnUntraced(function* (
  ports: ReadonlyArray<number>,
  keys: ReadonlyArray<string>,
  watched: Readonly<Record<string, number>>,
): Effect.fn.Return<Target, BenchFailure, Scope.Scope> {
  const load = yield* worker<LoadCommand, LoadReply>(new URL("../load/loadProcess.ts", import.meta.url))
  yield* load.ask({ type: "agents", keys })
  let postgresPeak: number | undefined
  const lookAtPostgres = () => {
    const { postgres } = watched
    const now = postgres === undefined ? undefined : treeResidentMiB(postgres)
    if (now !== undefined) postgresPeak = Math.max(postgresPeak ?? 0, now)
  }
  return {
    run: (pressure) =>
      load.ask({ type: "run", run: { ports, ...pressure, watched } }).pipe(
        // The process answers a run with its result.
        Effect.map((reply) => reply as LoadResult),
        Effect.tap(() => Effect.sync(lookAtPostgres)),
      ),
    peakMiB: () =>
      present({
        server: watched["server"] === undefined ? undefined : peakResidentMiB(watched["server"]),
        load: peakResidentMiB(load.pid),
        postgres: postgresPeak,
      }),
  }
})

/** Keys of new agents. */
export const newKeys = (count: number): ReadonlyArray<string> =>
  Array.from({ length: count }, () => randomBytes(KEY_BYTES).toString("base64url"))

/** Starts a server on an empty storage, without agents, unless it is filled before. */
export const startServer = Effect.fnUntraced(function* (
  bench: Bench,
  storage: StorageName,
  environment?: Readonly<Record<string, string>>,
  main: string = bench.main,
  fill?: (place: Place) => Effect.Effect<void, BenchFailure>,
) {
  const folder = yield* bench.folder
  const postgres = storage === "postgres" ? yield* bench.postgres : undefined
  const databaseUrl = postgres === undefined ? undefined : yield* postgres.database
  if (fill !== undefined) yield* fill({ dataFolder: join(folder, "data"), databaseUrl })
  const server = yield* tocsin({
    main,
    folder,
    databaseUrl: storage === "memory" ? "memory:" : databaseUrl,
    profileFolder: bench.profileFolder,
    environment,
  })
  return { server, postgres }
})

/** Starts a server on an empty storage and enrols the agents. */
export const subject = Effect.fnUntraced(function* (
  bench: Bench,
  storage: StorageName,
  environment?: Readonly<Record<string, string>>,
  main: string = bench.main,
  fill?: (place: Place) => Effect.Effect<void, BenchFailure>,
): Effect.fn.Return<Subject, BenchFailure, Scope.Scope> {
  const { server, postgres } = yield* startServer(bench, storage, environment, main, fill)
  const keys = newKeys(bench.measures.agents)
  yield* enrol(server, keys)
  const watched = { server: server.pid, ...(postgres !== undefined && { postgres: postgres.pid }) }
  return { server, ...(yield* target([server.port], keys, watched)) }
})

/** Starts the raw limit for requests of this step. */
export const rawLimit = Effect.fnUntraced(function* (bench: Bench, step: Step) {
  const raw = yield* worker<RawCommand, number>(new URL("../limits/rawProcess.ts", import.meta.url))
  const port = yield* raw.ask({ step })
  return yield* target([port], newKeys(bench.measures.agents), { server: raw.pid })
})

/** A result as a sample of the report. */
export const sampleOf = (result: LoadResult): Sample => ({
  perSecond: result.operations / result.seconds,
  p50Millis: result.p50Millis,
  p99Millis: result.p99Millis,
  maxMillis: result.maxMillis,
  cpuMicros: Object.fromEntries(
    Object.entries(result.cpuSeconds).map(([name, seconds]) => [name, (seconds * 1e6) / result.operations]),
  ),
})

/** The first error of these results, or undefined. */
export const failureOf = (load: Load, results: ReadonlyArray<LoadResult>): string | undefined => {
  const failures = results.reduce((sum, { failures: count }) => sum + count, 0)
  if (failures > 0) {
    const first = results.find(({ firstFailure }) => firstFailure !== undefined)?.firstFailure
    return `${failures} failures, the first: ${first ?? "unknown"}`
  }
  return results.every(({ requests }) => requests > 0)
    ? undefined
    : `no ${load.join("/")} request was answered`
}
