import { stat, statfs } from "node:fs/promises"
import { dirname } from "node:path"
import type { Instruments, MetricSource } from "@tocsin/core/engine/metrics/Instruments"
import { metricDefinitions as metrics } from "@tocsin/core/engine/metrics/metricDefinitions"
import { several, single } from "@tocsin/core/engine/metrics/Metric"
import { Effect } from "effect"
import { IN_MEMORY } from "../connection/SqliteConnection.ts"
import type { SyncFile } from "../log/LogFile.ts"
import type { WriteAheadLog } from "../log/WriteAheadLog.ts"
import type { RowCache } from "../rows/RowCache.ts"

/** The same sync, timed. */
export const timedSync =
  (sync: SyncFile, { syncDuration }: Instruments): SyncFile =>
  (descriptor, done) => {
    const startedAt = performance.now()
    sync(descriptor, (error) => {
      syncDuration.observe((performance.now() - startedAt) / 1_000)
      done(error)
    })
  }

interface Measured {
  readonly file: string
  readonly log: WriteAheadLog
  readonly cache: RowCache
}

/** Tells of the database's file, its log, the disk under them, and the cache of rows. */
export const fileMetrics = ({ file, log, cache }: Measured): MetricSource =>
  Effect.gen(function* () {
    const lookups = several(metrics.cacheLookups, [
      [["sqlite", "hit"], cache.hits],
      [["sqlite", "miss"], cache.misses],
    ])
    if (file === IN_MEMORY) return [lookups]
    const { size } = yield* Effect.tryPromise(() => stat(file))
    const { bavail, blocks, bsize } = yield* Effect.tryPromise(() => statfs(dirname(file)))
    return [
      lookups,
      single(metrics.logBytes, log.bytes),
      single(metrics.fileBytes, size),
      single(metrics.diskFree, bavail * bsize),
      single(metrics.diskSize, blocks * bsize),
    ]
  })
