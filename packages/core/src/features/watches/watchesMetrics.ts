import { counter } from "../../kernel/engine/metrics/Counters.ts"

/** Metrics of watches. */
export const watchesMetrics = {
  watchProbes: counter(
    "tocsin_watch_probes_total",
    "Probes of watches by outcome: their status, or dropped where another replica had run the same probe",
    ["outcome"],
  ),
}
