import { counter } from "../../kernel/engine/metrics/Counters.ts"

/** Metrics of numbers over time. */
export const numbersMetrics = {
  numbersRefused: counter(
    "tocsin_numbers_refused_total",
    "Numbers that were not kept, by the bound that their series exceeds: of a check, of an agent, or of all",
    ["bound"],
    ["check", "agent", "all"],
  ),
  numbersLost: counter(
    "tocsin_numbers_lost_total",
    "Numbers that were not written: for half an hour, before the server stopped, or for lack of room",
  ),
}
