import { readdir, readFile } from "node:fs/promises"
import {
  constants,
  monitorEventLoopDelay,
  performance,
  type PerformanceEntry,
  PerformanceObserver,
} from "node:perf_hooks"
import process from "node:process"
import {
  counter,
  gauge,
  histogram,
  Histograms,
  type MetricDefinition,
  several,
  single,
} from "@tocsin/core/kernel/engine/metrics/Counters"
import type { MetricSource } from "@tocsin/core/kernel/engine/metrics/Instruments"
import { Effect, type Scope } from "effect"

/** How often the event loop is asked how late it is. */
const LAG_RESOLUTION_MILLIS = 20
const NANOS = 1e9
const MICROS = 1e6
const MILLIS = 1e3

type Delay = ReturnType<typeof monitorEventLoopDelay>
type Sample = ReturnType<typeof sampleOf>

/** The process now. `files` are known only where there is a /proc. */
const sampleOf = (delay: Delay, files: Effect.Success<typeof openFiles>) => ({
  cpu: process.cpuUsage(),
  memory: process.memoryUsage(),
  loop: performance.eventLoopUtilization(),
  lag: delay,
  files,
})

/** Lag in seconds. A punctual timer fires after its interval, and one that never fired has no lag. */
const lag = ({ lag: { count } }: Sample, nanos: number): number =>
  count === 0 ? 0 : Math.max(0, nanos / NANOS - LAG_RESOLUTION_MILLIS / MILLIS)

const ofLag = (name: string, what: string) =>
  gauge(`nodejs_eventloop_lag_${name}_seconds`, `Event loop lag since the last scrape, ${what}`)

/** The metrics with one value, under prom-client's usual names. */
const values: ReadonlyArray<readonly [MetricDefinition, (sample: Sample) => number | undefined]> = [
  [
    gauge("process_start_time_seconds", "When the process started, in seconds since 1970"),
    () => performance.timeOrigin / MILLIS,
  ],
  [
    counter("process_cpu_user_seconds_total", "Processor time spent in the process's own code"),
    ({ cpu }) => cpu.user / MICROS,
  ],
  [
    counter("process_cpu_system_seconds_total", "Processor time spent in the system for the process"),
    ({ cpu }) => cpu.system / MICROS,
  ],
  [
    counter("process_cpu_seconds_total", "Processor time spent by the process"),
    ({ cpu }) => (cpu.user + cpu.system) / MICROS,
  ],
  [gauge("process_resident_memory_bytes", "Resident memory of the process"), ({ memory }) => memory.rss],
  [gauge("process_open_fds", "Open file descriptors"), ({ files }) => files?.open],
  [gauge("process_max_fds", "Limit on open file descriptors"), ({ files }) => files?.most],
  [gauge("nodejs_heap_size_total_bytes", "Size of the JavaScript heap"), ({ memory }) => memory.heapTotal],
  [
    gauge("nodejs_heap_size_used_bytes", "Memory in use on the JavaScript heap"),
    ({ memory }) => memory.heapUsed,
  ],
  [
    gauge("nodejs_external_memory_bytes", "Memory outside the JavaScript heap that its objects hold"),
    ({ memory }) => memory.external,
  ],
  [ofLag("min", "minimum"), (sample) => lag(sample, sample.lag.min)],
  [ofLag("max", "maximum"), (sample) => lag(sample, sample.lag.max)],
  [ofLag("mean", "mean"), (sample) => lag(sample, sample.lag.mean)],
  [ofLag("p50", "median"), (sample) => lag(sample, sample.lag.percentile(50))],
  [ofLag("p90", "90th percentile"), (sample) => lag(sample, sample.lag.percentile(90))],
  [ofLag("p99", "99th percentile"), (sample) => lag(sample, sample.lag.percentile(99))],
  [
    counter("nodejs_eventloop_active_seconds_total", "Time that the event loop was busy"),
    ({ loop }) => loop.active / MILLIS,
  ],
  [
    counter("nodejs_eventloop_idle_seconds_total", "Time that the event loop was idle"),
    ({ loop }) => loop.idle / MILLIS,
  ],
]

const buildInfo = gauge("tocsin_build_info", "Always 1; the labels name the version", ["version", "node"])
const versionInfo = gauge("nodejs_version_info", "Always 1; the labels name the version of Node.js", [
  "version",
  "major",
  "minor",
  "patch",
])
export const gcDuration = histogram(
  "nodejs_gc_duration_seconds",
  "Duration of garbage collections, by kind",
  [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1],
  ["kind"],
)

export const processMetricDefinitions: ReadonlyArray<MetricDefinition> = [
  buildInfo,
  ...values.map(([definition]) => definition),
  gcDuration,
  versionInfo,
]

/** Watches the process until the scope closes. */
export const processMetrics = (version: string): Effect.Effect<MetricSource, never, Scope.Scope> =>
  Effect.gen(function* () {
    const delay = yield* eventLoopDelay
    const gc = yield* collections
    const constant = [
      several(buildInfo, [[[version, process.version], 1]]),
      several(versionInfo, [[[process.version, ...process.versions.node.split(".")], 1]]),
    ]
    return Effect.map(openFiles, (files) => {
      const sample = sampleOf(delay, files)
      const read = values.flatMap(([definition, valueOf]) => {
        const value = valueOf(sample)
        return value === undefined ? [] : [single(definition, value)]
      })
      delay.reset()
      return [...constant, ...read, gc.read()]
    })
  })

const MOST_FILES = /^Max open files\s+(\d+)/m

const openFiles = Effect.gen(function* () {
  const open = yield* Effect.tryPromise(() => readdir("/proc/self/fd"))
  const limits = yield* Effect.tryPromise(() => readFile("/proc/self/limits", "utf8"))
  const most = MOST_FILES.exec(limits)?.[1]
  // Reading the folder has opened it.
  return { open: open.length - 1, most: most === undefined ? undefined : Number(most) }
}).pipe(Effect.orElseSucceed(() => undefined))

const eventLoopDelay = Effect.acquireRelease(
  Effect.sync(() => {
    const delay = monitorEventLoopDelay({ resolution: LAG_RESOLUTION_MILLIS })
    delay.enable()
    return delay
  }),
  (delay) => Effect.sync(() => delay.disable()),
)

const GC_KINDS = new Map([
  [constants.NODE_PERFORMANCE_GC_MAJOR, "major"],
  [constants.NODE_PERFORMANCE_GC_MINOR, "minor"],
  [constants.NODE_PERFORMANCE_GC_INCREMENTAL, "incremental"],
  [constants.NODE_PERFORMANCE_GC_WEAKCB, "weakcb"],
])

const kindOf = (entry: PerformanceEntry): string => {
  // The type is that of browsers; Node's entries of collections have a detail.
  const { detail } = entry as PerformanceEntry & { readonly detail?: { readonly kind?: number } }
  return GC_KINDS.get(detail?.kind ?? -1) ?? "other"
}

const collections = Effect.gen(function* () {
  const durations = new Histograms(gcDuration)
  // Kinds that have not happened are 0, so that rates work from the first one.
  for (const kind of GC_KINDS.values()) durations.of(kind)
  yield* Effect.acquireRelease(
    Effect.sync(() => {
      const observer = new PerformanceObserver((list) => {
        for (const entry of list.getEntries()) {
          durations.of(kindOf(entry)).observe(entry.duration / MILLIS)
        }
      })
      observer.observe({ entryTypes: ["gc"] })
      return observer
    }),
    (observer) => Effect.sync(() => observer.disconnect()),
  )
  return durations
})
