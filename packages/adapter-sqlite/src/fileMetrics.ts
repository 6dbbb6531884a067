import { stat, statfs } from "node:fs/promises"
import { dirname } from "node:path"
import {
  type Histogram,
  Histograms,
  gauge,
  histogram,
  several,
  single,
} from "@tocsin/core/kernel/engine/metrics/Counters"
import type { MetricSource } from "@tocsin/core/kernel/engine/metrics/Instruments"
import { COMMIT_SECONDS, storageMetrics } from "@tocsin/core/kernel/engine/metrics/storageMetrics"
import { Effect } from "effect"
import { IN_MEMORY } from "./connection/SqliteConnection.ts"
import type { SyncFile } from "./log/LogFile.ts"
import type { WriteAheadLog } from "./log/WriteAheadLog.ts"
import type { RowCache } from "./cache/RowCache.ts"

export const fileMetricDefinitions = {
  logBytes: gauge("tocsin_sqlite_log_bytes", "Size of the data in SQLite's write-ahead log"),
  fileBytes: gauge("tocsin_sqlite_file_bytes", "Size of SQLite's database file"),
  syncDuration: histogram(
    "tocsin_sqlite_sync_duration_seconds",
    "Duration of a sync of the write-ahead log",
    COMMIT_SECONDS,
  ),
  diskFree: gauge(
    "tocsin_data_filesystem_avail_bytes",
    "Free bytes of the file system that holds the database file",
  ),
  diskSize: gauge(
    "tocsin_data_filesystem_size_bytes",
    "Size of the file system that holds the database file",
  ),
}

export const makeSyncDurations = (): Histograms => new Histograms(fileMetricDefinitions.syncDuration)

export const timedSync =
  (sync: SyncFile, duration: Histogram): SyncFile =>
  (descriptor, done) => {
    const startedAt = performance.now()
    sync(descriptor, (error) => {
      duration.observe((performance.now() - startedAt) / 1_000)
      done(error)
    })
  }

interface FileParts {
  readonly file: string
  readonly log: WriteAheadLog
  readonly cache: RowCache
  readonly syncs: Histograms
}

export const fileMetrics = ({ file, log, cache, syncs }: FileParts): MetricSource =>
  Effect.gen(function* () {
    const lookups = several(storageMetrics.cacheLookups, [
      [["sqlite", "hit"], cache.hits],
      [["sqlite", "miss"], cache.misses],
    ])
    if (file === IN_MEMORY) return [lookups, syncs.read()]
    const { size } = yield* Effect.tryPromise(() => stat(file))
    const { bavail, blocks, bsize } = yield* Effect.tryPromise(() => statfs(dirname(file)))
    return [
      lookups,
      syncs.read(),
      single(fileMetricDefinitions.logBytes, log.bytes),
      single(fileMetricDefinitions.fileBytes, size),
      single(fileMetricDefinitions.diskFree, bavail * bsize),
      single(fileMetricDefinitions.diskSize, blocks * bsize),
    ]
  })
