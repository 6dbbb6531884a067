import { Effect } from "effect"
import type { Bench } from "../Bench.ts"
import type { LatencyCase } from "../cases.ts"
import { commitLimit } from "../limits/commitLimit.ts"
import type { Load } from "../load/Load.ts"
import type { LoadResult } from "../load/LoadRun.ts"
import type { CaseResult, Figure, Sample, Series } from "../report/Results.ts"
import { median } from "../statistics.ts"
import { failureOf, sampleOf, subject } from "./target.ts"

const LOAD: Load = ["heartbeat"]

const p50 = (samples: ReadonlyArray<Sample>) => median(samples.flatMap(({ p50Millis }) => p50Millis ?? []))

const inCommits = (most: number, samples: ReadonlyArray<Sample>, commits: ReadonlyArray<Sample>): Figure => ({
  name: "p50 in commits",
  value: p50(samples) / p50(commits),
  target: { bound: "at most", value: most },
})

/** Measures heartbeats over one connection, and one synced commit, in turn. */
export const measureLatency = Effect.fnUntraced(function* (bench: Bench, one: LatencyCase) {
  const { warmUpSeconds, seconds, repeats } = bench.measures
  const service = yield* subject(bench, one.storage)
  const commit = yield* commitLimit(bench, one.storage)
  const results: Array<LoadResult> = []
  const commits: Array<Sample> = []
  for (let repeat = 1; repeat <= repeats; repeat += 1) {
    if (commit) commits.push(yield* commit(seconds))
    results.push(yield* service.run({ load: LOAD, connections: 1, warmUpSeconds, seconds }))
  }
  const samples = results.map(sampleOf)
  const series: Array<Series> = [{ name: "subject", samples, peakMiB: service.peakMiB() }]
  if (commit) series.push({ name: "commits", samples: commits, peakMiB: {} })
  const failure = failureOf(LOAD, results)
  const result: CaseResult = {
    name: one.name,
    operations: "heartbeats",
    series,
    figures: one.commits === undefined ? [] : [inCommits(one.commits, samples, commits)],
    ...(failure !== undefined && { failure }),
  }
  return result
})
