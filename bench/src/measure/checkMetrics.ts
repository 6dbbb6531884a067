import { Effect } from "effect"
import type { Bench } from "../Bench.ts"
import { BenchFailure } from "../BenchFailure.ts"
import type { CheckMetricsCase } from "../cases.ts"
import { callApi } from "../load/callApi.ts"
import { enrol } from "../load/enrol.ts"
import { EVENTS_PER_BATCH } from "../load/Load.ts"
import { ownCpuSeconds } from "../processes/cpuSeconds.ts"
import { peakResidentMiB } from "../processes/residentMemory.ts"
import type { CaseResult } from "../report/Results.ts"
import { median } from "../statistics.ts"
import { newKeys, startServer } from "./target.ts"

/** Scrapes in a row, so that ticks of a hundredth of a second hardly matter. */
const SCRAPES = 10

/** Measures what a scrape of the metrics of many checks takes, packed. */
export const measureCheckMetrics = Effect.fnUntraced(function* (bench: Bench, one: CheckMetricsCase) {
  const { server } = yield* startServer(bench, one.storage, { SERVICE_CHECK_METRICS: "true" })
  yield* enrol(server, newKeys(one.checks / EVENTS_PER_BATCH))
  const { pid, port, token } = server
  const scrape = callApi({ port, path: "/metrics/checks", token })
  const lines = (yield* scrape).match(/^tocsin_check_info/gm)?.length
  if (lines !== one.checks) return yield* new BenchFailure({ message: `a scrape has ${lines} checks` })
  const before = peakResidentMiB(pid) ?? 0
  const sample = Effect.gen(function* () {
    const used = ownCpuSeconds(pid) ?? 0
    yield* Effect.replicateEffect(scrape, SCRAPES)
    return (((ownCpuSeconds(pid) ?? 0) - used) * 1e3) / SCRAPES
  })
  yield* sample
  const samples = yield* Effect.replicateEffect(sample, bench.measures.repeats)
  const result: CaseResult = {
    name: one.name,
    operations: "scrapes",
    series: [],
    figures: [
      {
        name: "ms of processor time a scrape",
        value: median(samples),
        target: { bound: "at most", value: one.mostMillis },
      },
      { name: "MiB more than after the first scrape", value: (peakResidentMiB(pid) ?? 0) - before },
    ],
  }
  return result
})
