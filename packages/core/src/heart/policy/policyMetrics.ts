import { counter, gauge } from "../../kernel/engine/metrics/Counters.ts"

/** Metrics of the stored policy. */
export const policyMetrics = {
  policyVersion: gauge(
    "tocsin_policy_version",
    "Stored version of the policy that this process follows; 0 while none is stored, absent where a file or a program decides",
  ),
  policyIsNewest: gauge(
    "tocsin_policy_is_newest",
    "Whether that is the newest stored version, as of the last look: 1 or 0",
  ),
  policyVersionsRefused: counter(
    "tocsin_policy_versions_refused_total",
    "Stored versions of the policy that this process could not read, and does not follow",
  ),
}
