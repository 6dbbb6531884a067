import { Effect } from "effect"
import type { Bench } from "../Bench.ts"
import type { HalfLoadCase } from "../cases.ts"
import type { Load } from "../load/Load.ts"
import type { LoadResult } from "../load/LoadRun.ts"
import type { CaseResult, Series } from "../report/Results.ts"
import { median } from "../statistics.ts"
import { failureOf, type Pressure, rawLimit, sampleOf, subject, type Target } from "./target.ts"

const LOAD: Load = ["heartbeat"]

interface Measured {
  readonly singles: Array<LoadResult>
  readonly maxima: Array<LoadResult>
  readonly halves: Array<LoadResult>
}

const nothingYet = (): Measured => ({ singles: [], maxima: [], halves: [] })

const all = ({ singles, maxima, halves }: Measured): ReadonlyArray<LoadResult> => [
  ...singles,
  ...maxima,
  ...halves,
]

/** Measures one connection, then the most that is taken, then half of that, paced. */
const measure = Effect.fnUntraced(function* (
  { run }: Target,
  { singles, maxima, halves }: Measured,
  pressure: Pressure,
) {
  const maximum = yield* run(pressure)
  const requestsPerSecond = maximum.requests / maximum.seconds / 2
  maxima.push(maximum)
  singles.push(yield* run({ ...pressure, connections: 1 }))
  halves.push(yield* run({ ...pressure, requestsPerSecond }))
})

const p99InSingles = ({ singles, halves }: Measured): number =>
  median(halves.map(({ p99Millis }) => p99Millis)) / median(singles.map(({ p50Millis }) => p50Millis))

const seriesOf = (name: string, results: ReadonlyArray<LoadResult>): Series => ({
  name,
  samples: results.map(sampleOf),
  peakMiB: {},
})

/** Measures the service and the raw limit alternately, each at half of its maximum. */
export const measureHalfLoad = Effect.fnUntraced(function* (bench: Bench, one: HalfLoadCase) {
  const { warmUpSeconds, seconds, repeats } = bench.measures
  const raw = yield* rawLimit(bench, "heartbeat")
  const service = yield* subject(bench, one.storage)
  const ofRaw = nothingYet()
  const ofService = nothingYet()
  const pressure = { load: LOAD, connections: one.connections, warmUpSeconds, seconds }
  for (let repeat = 1; repeat <= repeats; repeat += 1) {
    yield* measure(raw, ofRaw, pressure)
    yield* measure(service, ofService, pressure)
  }
  const failure = failureOf(LOAD, [...all(ofService), ...all(ofRaw)])
  const result: CaseResult = {
    name: one.name,
    operations: "heartbeats",
    series: [
      { ...seriesOf("subject", ofService.halves), peakMiB: service.peakMiB() },
      seriesOf("one connection", ofService.singles),
      seriesOf("maximum", ofService.maxima),
      seriesOf("raw", ofRaw.halves),
      seriesOf("raw, one connection", ofRaw.singles),
    ],
    figures: [
      {
        name: "p99 in p50 of one",
        value: p99InSingles(ofService),
        target: { bound: "at most", value: one.singles },
      },
      { name: "raw: p99 in p50 of one", value: p99InSingles(ofRaw) },
    ],
    ...(failure !== undefined && { failure }),
  }
  return result
})
