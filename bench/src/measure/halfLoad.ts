import { Effect } from "effect"
import type { Bench } from "../Bench.ts"
import type { HalfLoadCase } from "../cases.ts"
import type { Load } from "../load/Load.ts"
import type { LoadResult } from "../load/LoadRun.ts"
import type { CaseResult, Series } from "../report/Results.ts"
import { median } from "../statistics.ts"
import { failureOf, sampleOf, subject } from "./target.ts"

const LOAD: Load = ["heartbeat"]

const NO_PEAK = {}

/** Measures one connection, then the most that is taken, then half of that, paced; and again. */
export const measureHalfLoad = Effect.fnUntraced(function* (bench: Bench, one: HalfLoadCase) {
  const { warmUpSeconds, seconds, repeats } = bench.measures
  const { connections } = one
  const service = yield* subject(bench, one.storage)
  const singles: Array<LoadResult> = []
  const maxima: Array<LoadResult> = []
  const halves: Array<LoadResult> = []
  for (let repeat = 1; repeat <= repeats; repeat += 1) {
    const pressure = { load: LOAD, warmUpSeconds, seconds }
    const maximum = yield* service.run({ ...pressure, connections })
    const requestsPerSecond = maximum.requests / maximum.seconds / 2
    maxima.push(maximum)
    singles.push(yield* service.run({ ...pressure, connections: 1 }))
    halves.push(yield* service.run({ ...pressure, connections, requestsPerSecond }))
  }
  const series: ReadonlyArray<Series> = [
    { name: "subject", samples: halves.map(sampleOf), peakMiB: service.peakMiB() },
    { name: "one connection", samples: singles.map(sampleOf), peakMiB: NO_PEAK },
    { name: "maximum", samples: maxima.map(sampleOf), peakMiB: NO_PEAK },
  ]
  const failure = failureOf(LOAD, [...singles, ...maxima, ...halves])
  const value =
    median(halves.map(({ p99Millis }) => p99Millis)) / median(singles.map(({ p50Millis }) => p50Millis))
  const result: CaseResult = {
    name: one.name,
    operations: "heartbeats",
    series,
    figures: [{ name: "p99 in p50 of one", value, target: { bound: "at most", value: one.singles } }],
    ...(failure !== undefined && { failure }),
  }
  return result
})
