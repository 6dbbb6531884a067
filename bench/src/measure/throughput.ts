import { Effect } from "effect"
import type { Bench } from "../Bench.ts"
import type { ThroughputCase } from "../cases.ts"
import { upsertLimit } from "../limits/upsertLimit.ts"
import type { LoadResult } from "../load/LoadRun.ts"
import type { CaseResult, Figure, Sample, Series } from "../report/Results.ts"
import { median } from "../statistics.ts"
import { failureOf, rawLimit, sampleOf, subject } from "./target.ts"

const UPSERT_CLIENTS = 32

/**
 * The medians of what each pair of neighbours says: what disturbs the machine for a while disturbs
 * both.
 */
export const ratio = (
  name: string,
  least: number | undefined,
  subjects: ReadonlyArray<Sample>,
  limits: ReadonlyArray<Sample>,
  process: "server" | "postgres",
): Figure => {
  const pairs = subjects.flatMap((one, index) => {
    const limit = limits[index]
    return limit === undefined ? [] : [{ one, limit }]
  })
  const byCpu = median(
    pairs.map(({ one, limit }) => (limit.cpuMicros[process] ?? Number.NaN) / (one.cpuMicros[process] ?? 0)),
  )
  return {
    name,
    value: median(pairs.map(({ one, limit }) => one.perSecond / limit.perSecond)),
    ...(Number.isFinite(byCpu) && { byCpu }),
    ...(least !== undefined && { target: { bound: "at least", value: least } }),
  }
}

/** Measures the limits and the subject in turn. */
export const measureThroughput = Effect.fnUntraced(function* (bench: Bench, one: ThroughputCase) {
  const { warmUpSeconds, seconds, repeats } = bench.measures
  const { load, connections, ofUpserts } = one
  const raw = yield* rawLimit(bench, load[0] ?? "heartbeat")
  const service = yield* subject(bench, one.storage)
  const upsert = ofUpserts && (yield* upsertLimit(bench, "pgbench"))
  const raws: Array<LoadResult> = []
  const services: Array<LoadResult> = []
  const upserts: Array<Sample> = []
  for (let repeat = 1; repeat <= repeats; repeat += 1) {
    // The first time compilers are still at work.
    const pressure = {
      load,
      connections,
      seconds,
      warmUpSeconds: repeat === 1 ? 2 * warmUpSeconds : warmUpSeconds,
    }
    raws.push(yield* raw.run(pressure))
    services.push(yield* service.run(pressure))
    if (upsert && ofUpserts) {
      upserts.push(yield* upsert({ rows: ofUpserts.rows, clients: UPSERT_CLIENTS, seconds }))
    }
  }
  const samples = services.map(sampleOf)
  const rawSamples = raws.map(sampleOf)
  const series: Array<Series> = [
    { name: "subject", samples, peakMiB: service.peakMiB() },
    { name: "raw", samples: rawSamples, peakMiB: raw.peakMiB() },
  ]
  const figures = [ratio("× raw", one.ofRaw, samples, rawSamples, "server")]
  if (ofUpserts) {
    series.push({ name: "upserts", samples: upserts, peakMiB: {} })
    figures.push(ratio("× upserts", ofUpserts.target, samples, upserts, "postgres"))
  }
  const failure = failureOf(load, [...services, ...raws])
  const result: CaseResult = {
    name: one.name,
    operations: load[0] === "heartbeat" ? "heartbeats" : "results",
    series,
    figures,
    ...(failure !== undefined && { failure }),
  }
  return result
})
