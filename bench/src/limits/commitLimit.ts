import { Effect, type Scope } from "effect"
import type { Bench } from "../Bench.ts"
import type { BenchFailure } from "../BenchFailure.ts"
import type { StorageName } from "../processes/tocsin.ts"
import { worker } from "../processes/worker.ts"
import type { Sample } from "../report/Results.ts"
import type { CommitTimes, SyncedCommits } from "./SyncedCommits.ts"
import { upsertLimit } from "./upsertLimit.ts"

const sqliteCommits = Effect.fnUntraced(function* (bench: Bench) {
  const folder = yield* bench.folder
  const process = yield* worker<SyncedCommits, CommitTimes>(new URL("./sqliteProcess.ts", import.meta.url))
  return (seconds: number) =>
    Effect.map(process.ask({ folder, seconds }), ({ commits, ...times }): Sample => ({
      perSecond: commits / seconds,
      ...times,
      cpuMicros: {},
    }))
})

/**
 * Samples of one synced commit after the other in this storage, each as long as asked; undefined
 * where nothing is synced.
 */
export const commitLimit = Effect.fnUntraced(function* (
  bench: Bench,
  storage: StorageName,
): Effect.fn.Return<
  ((seconds: number) => Effect.Effect<Sample, BenchFailure>) | undefined,
  BenchFailure,
  Scope.Scope
> {
  if (storage === "memory") return undefined
  if (storage === "sqlite") return yield* sqliteCommits(bench)
  const upsert = yield* upsertLimit(bench, "pg")
  return (seconds) => upsert({ rows: 1, clients: 1, seconds })
})
