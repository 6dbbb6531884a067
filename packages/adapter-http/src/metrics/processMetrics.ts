import { readdir, readFile } from "node:fs/promises"
import {
  constants,
  monitorEventLoopDelay,
  performance,
  type PerformanceEntry,
  PerformanceObserver,
} from "node:perf_hooks"
import process from "node:process"
import { Histograms } from "@tocsin/core/engine/metrics/Counters"
import type { MetricSource } from "@tocsin/core/engine/metrics/Instruments"
import {
  counter,
  gauge,
  histogram,
  type MetricFamily,
  several,
  single,
} from "@tocsin/core/engine/metrics/Metric"
import { Effect, type Scope } from "effect"

const GC_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1]

/** The process, under prom-client's usual names. */
export const processMetricDefinitions = {
  buildInfo: gauge("tocsin_build_info", "Always 1; the labels name the version", {
    labels: ["version", "node"],
  }),
  startTime: gauge("process_start_time_seconds", "When the process started, in seconds since 1970"),
  cpuUser: counter("process_cpu_user_seconds_total", "Processor time spent in the process's own code"),
  cpuSystem: counter(
    "process_cpu_system_seconds_total",
    "Processor time spent in the system for the process",
  ),
  cpu: counter("process_cpu_seconds_total", "Processor time spent by the process"),
  residentMemory: gauge("process_resident_memory_bytes", "Resident memory of the process"),
  openFiles: gauge("process_open_fds", "Open file descriptors"),
  mostFiles: gauge("process_max_fds", "Limit on open file descriptors"),
  heapTotal: gauge("nodejs_heap_size_total_bytes", "Size of the JavaScript heap"),
  heapUsed: gauge("nodejs_heap_size_used_bytes", "Memory in use on the JavaScript heap"),
  externalMemory: gauge(
    "nodejs_external_memory_bytes",
    "Memory outside the JavaScript heap that its objects hold",
  ),
  gcDuration: histogram("nodejs_gc_duration_seconds", "Duration of garbage collections, by kind", {
    labels: ["kind"],
    buckets: GC_SECONDS,
  }),
  loopLagMin: gauge("nodejs_eventloop_lag_min_seconds", "Event loop lag since the last scrape, minimum"),
  loopLagMax: gauge("nodejs_eventloop_lag_max_seconds", "Event loop lag since the last scrape, maximum"),
  loopLagMean: gauge("nodejs_eventloop_lag_mean_seconds", "Event loop lag since the last scrape, mean"),
  loopLagP50: gauge("nodejs_eventloop_lag_p50_seconds", "Event loop lag since the last scrape, median"),
  loopLagP90: gauge(
    "nodejs_eventloop_lag_p90_seconds",
    "Event loop lag since the last scrape, 90th percentile",
  ),
  loopLagP99: gauge(
    "nodejs_eventloop_lag_p99_seconds",
    "Event loop lag since the last scrape, 99th percentile",
  ),
  loopActive: counter("nodejs_eventloop_active_seconds_total", "Time that the event loop was busy"),
  loopIdle: counter("nodejs_eventloop_idle_seconds_total", "Time that the event loop was idle"),
  versionInfo: gauge("nodejs_version_info", "Always 1; the labels name the version of Node.js", {
    labels: ["version", "major", "minor", "patch"],
  }),
}

const metrics = processMetricDefinitions

/** How often the event loop is asked how late it is: one timer, whose cost nobody sees. */
const LAG_RESOLUTION_MILLIS = 20
const NANOS_PER_SECOND = 1e9
const MICROS_PER_SECOND = 1e6
const MILLIS_PER_SECOND = 1e3

const GC_KINDS = new Map([
  [constants.NODE_PERFORMANCE_GC_MAJOR, "major"],
  [constants.NODE_PERFORMANCE_GC_MINOR, "minor"],
  [constants.NODE_PERFORMANCE_GC_INCREMENTAL, "incremental"],
  [constants.NODE_PERFORMANCE_GC_WEAKCB, "weakcb"],
])

/** Watches the process until the scope closes, and tells of it. */
export const processMetrics = (version: string): Effect.Effect<MetricSource, never, Scope.Scope> =>
  Effect.gen(function* () {
    const readLoop = yield* eventLoop
    const gc = yield* collections
    const constant = [
      several(metrics.buildInfo, [[[version, process.version], 1]]),
      several(metrics.versionInfo, [[[process.version, ...versionParts()], 1]]),
      single(metrics.startTime, performance.timeOrigin / MILLIS_PER_SECOND),
    ]
    return Effect.map(openFiles, (files) => [
      ...constant,
      ...processor(),
      ...memory(),
      ...files,
      gc.read(),
      ...readLoop(),
    ])
  })

const versionParts = (): ReadonlyArray<string> => {
  const [major = "", minor = "", patch = ""] = process.versions.node.split(".")
  return [major, minor, patch]
}

const processor = (): ReadonlyArray<MetricFamily> => {
  const { user, system } = process.cpuUsage()
  return [
    single(metrics.cpuUser, user / MICROS_PER_SECOND),
    single(metrics.cpuSystem, system / MICROS_PER_SECOND),
    single(metrics.cpu, (user + system) / MICROS_PER_SECOND),
  ]
}

const memory = (): ReadonlyArray<MetricFamily> => {
  const { rss, heapTotal, heapUsed, external } = process.memoryUsage()
  return [
    single(metrics.residentMemory, rss),
    single(metrics.heapTotal, heapTotal),
    single(metrics.heapUsed, heapUsed),
    single(metrics.externalMemory, external),
  ]
}

const MOST_FILES = /^Max open files\s+(\d+)/m

/** Where there is a /proc. */
const openFiles: Effect.Effect<ReadonlyArray<MetricFamily>> = Effect.gen(function* () {
  const open = yield* Effect.tryPromise(() => readdir("/proc/self/fd"))
  const limits = yield* Effect.tryPromise(() => readFile("/proc/self/limits", "utf8"))
  const most = MOST_FILES.exec(limits)?.[1]
  return [
    // Reading the folder has opened it.
    single(metrics.openFiles, open.length - 1),
    ...(most === undefined ? [] : [single(metrics.mostFiles, Number(most))]),
  ]
}).pipe(Effect.orElseSucceed(() => []))

/** Lag since the last reading, as prom-client tells it; how busy the loop was, as counters that any reader can compare. */
const eventLoop = Effect.gen(function* () {
  const lag = yield* Effect.acquireRelease(
    Effect.sync(() => monitorEventLoopDelay({ resolution: LAG_RESOLUTION_MILLIS })),
    (monitor) => Effect.sync(() => monitor.disable()),
  )
  lag.enable()
  // A timer that is punctual counts as its interval.
  const seconds = (nanos: number): number =>
    Number.isFinite(nanos)
      ? Math.max(0, nanos / NANOS_PER_SECOND - LAG_RESOLUTION_MILLIS / MILLIS_PER_SECOND)
      : 0
  return (): ReadonlyArray<MetricFamily> => {
    const isEmpty = lag.count === 0
    const since = (nanos: number) => (isEmpty ? 0 : seconds(nanos))
    const { active, idle } = performance.eventLoopUtilization()
    const families = [
      single(metrics.loopLagMin, since(lag.min)),
      single(metrics.loopLagMax, since(lag.max)),
      single(metrics.loopLagMean, since(lag.mean)),
      single(metrics.loopLagP50, since(lag.percentile(50))),
      single(metrics.loopLagP90, since(lag.percentile(90))),
      single(metrics.loopLagP99, since(lag.percentile(99))),
      single(metrics.loopActive, active / MILLIS_PER_SECOND),
      single(metrics.loopIdle, idle / MILLIS_PER_SECOND),
    ]
    lag.reset()
    return families
  }
})

const kindOf = (entry: PerformanceEntry): string => {
  // Node's entries of collections have it (perf_hooks, "Garbage Collection"); those of browsers, whose type this is, have not.
  const { detail } = entry as PerformanceEntry & { readonly detail?: { readonly kind?: number } }
  return GC_KINDS.get(detail?.kind ?? -1) ?? "other"
}

const collections = Effect.gen(function* () {
  const durations = new Histograms(metrics.gcDuration)
  // A kind that has not happened yet is 0, not absent: rates begin with the first one.
  for (const kind of GC_KINDS.values()) durations.of(kind)
  yield* Effect.acquireRelease(
    Effect.sync(() => {
      const observer = new PerformanceObserver((list) => {
        for (const entry of list.getEntries()) {
          durations.of(kindOf(entry)).observe(entry.duration / MILLIS_PER_SECOND)
        }
      })
      observer.observe({ entryTypes: ["gc"] })
      return observer
    }),
    (observer) => Effect.sync(() => observer.disconnect()),
  )
  return durations
})
