import { Effect } from "effect"
import type { Bench } from "../Bench.ts"
import { BenchFailure } from "../BenchFailure.ts"
import type { TracedCase } from "../cases.ts"
import type { Collected } from "../limits/collectorProcess.ts"
import type { Load } from "../load/Load.ts"
import type { LoadResult } from "../load/LoadRun.ts"
import { worker } from "../processes/worker.ts"
import type { CaseResult, Figure, Sample, Series } from "../report/Results.ts"
import { median } from "../statistics.ts"
import { failureOf, sampleOf, subject, type Target } from "./target.ts"

const LOAD: Load = ["heartbeat"]

const serverMicros = ({ cpuMicros }: Sample): number => cpuMicros["server"] ?? Number.NaN

const nameOf = (kept: number): string => `${kept * 100} % kept`

const seriesOf = (name: string, target: Target, results: ReadonlyArray<LoadResult>): Series => ({
  name,
  samples: results.map(sampleOf),
  peakMiB: target.peakMiB(),
})

/** Measures a server without a tracer, and one for each share of kept traces, in turn. */
export const measureTraced = Effect.fnUntraced(function* (bench: Bench, one: TracedCase) {
  const { warmUpSeconds, seconds, repeats } = bench.measures
  const collector = yield* worker<object, Collected>(
    new URL("../limits/collectorProcess.ts", import.meta.url),
  )
  const endpoint = `http://127.0.0.1:${(yield* collector.ask({})).port}`
  const plain = yield* subject(bench, one.storage)
  const traced = yield* Effect.forEach(one.shares, ({ kept }) =>
    subject(bench, one.storage, {
      OTEL_EXPORTER_OTLP_ENDPOINT: endpoint,
      OTEL_EXPORTER_OTLP_PROTOCOL: "http/json",
      OTEL_TRACES_SAMPLER: "parentbased_traceidratio",
      OTEL_TRACES_SAMPLER_ARG: String(kept),
    }),
  )
  const ofPlain: Array<LoadResult> = []
  const ofTraced = traced.map((): Array<LoadResult> => [])
  for (let repeat = 1; repeat <= repeats; repeat += 1) {
    const pressure = {
      load: LOAD,
      connections: one.connections,
      seconds,
      warmUpSeconds: repeat === 1 ? 2 * warmUpSeconds : warmUpSeconds,
    }
    ofPlain.push(yield* plain.run(pressure))
    for (const [index, target] of traced.entries()) {
      const before = (yield* collector.ask({})).bytes
      ofTraced[index]?.push(yield* target.run(pressure))
      // After a failed export the server drops all for a minute, and would be measured without a tracer.
      if ((yield* collector.ask({})).bytes === before)
        return yield* new BenchFailure({ message: "no spans arrived at the collector" })
    }
  }
  const alone = seriesOf("subject", plain, ofPlain)
  const beside = one.shares.flatMap(({ kept, most }, index) => {
    const target = traced[index]
    return target === undefined ? [] : [{ most, ...seriesOf(nameOf(kept), target, ofTraced[index] ?? []) }]
  })
  const figures = beside.map(({ most, name, samples }): Figure => ({
    name: `${name}: server µs × no tracer`,
    value: median(
      samples.map((sample, index) => {
        const neighbour = alone.samples[index]
        return neighbour === undefined ? Number.NaN : serverMicros(sample) / serverMicros(neighbour)
      }),
    ),
    target: { bound: "at most", value: most },
  }))
  const failure = failureOf(LOAD, [...ofPlain, ...ofTraced.flat()])
  const result: CaseResult = {
    name: one.name,
    operations: "heartbeats",
    series: [alone, ...beside.map(({ name, samples, peakMiB }): Series => ({ name, samples, peakMiB }))],
    figures,
    ...(failure !== undefined && { failure }),
  }
  return result
})
