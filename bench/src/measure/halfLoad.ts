import { Effect } from "effect"
import type { Bench } from "../Bench.ts"
import type { HalfLoadCase } from "../cases.ts"
import type { Load } from "../load/Load.ts"
import type { LoadResult } from "../load/LoadRun.ts"
import type { CaseResult, Series } from "../report/Results.ts"
import { median } from "../statistics.ts"
import { failureOf, rawLimit, sampleOf, subject } from "./target.ts"

const LOAD: Load = ["heartbeat"]

interface Round {
  readonly maximum: LoadResult
  readonly half: LoadResult
  /** The raw limit at the same rate. */
  readonly raw: LoadResult
}

const seriesOf = (name: string, results: ReadonlyArray<LoadResult>): Series => ({
  name,
  samples: results.map(sampleOf),
  peakMiB: {},
})

/** Measures the most that is taken, then half of that, paced, of the service and of the raw limit. */
export const measureHalfLoad = Effect.fnUntraced(function* (bench: Bench, one: HalfLoadCase) {
  const { warmUpSeconds, seconds, repeats } = bench.measures
  const limit = yield* rawLimit(bench, "heartbeat")
  const service = yield* subject(bench, one.storage)
  const pressure = { load: LOAD, connections: one.connections, warmUpSeconds, seconds }
  const rounds: Array<Round> = []
  for (let repeat = 1; repeat <= repeats; repeat += 1) {
    const maximum = yield* service.run(pressure)
    const paced = { ...pressure, requestsPerSecond: maximum.requests / maximum.seconds / 2 }
    const raw = yield* limit.run(paced)
    rounds.push({ maximum, raw, half: yield* service.run(paced) })
  }
  const halves = rounds.map(({ half }) => half)
  const maxima = rounds.map(({ maximum }) => maximum)
  const raws = rounds.map(({ raw }) => raw)
  const failure = failureOf(LOAD, [...halves, ...maxima, ...raws])
  const result: CaseResult = {
    name: one.name,
    operations: "heartbeats",
    series: [
      { ...seriesOf("subject", halves), peakMiB: service.peakMiB() },
      seriesOf("maximum", maxima),
      seriesOf("raw", raws),
    ],
    figures: [
      {
        name: "p99 × raw",
        value: median(rounds.map(({ half, raw }) => half.p99Millis / raw.p99Millis)),
        target: { bound: "at most", value: one.ofRaw },
      },
    ],
    ...(failure !== undefined && { failure }),
  }
  return result
})
