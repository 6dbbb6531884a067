import * as type from "../../settings/settingTypes.ts"

const { setting } = type

/** Metrics of checks, for Prometheus (docs/rules.md#metrics-of-checks). */
export const checkMetricsSettings = {
  SERVICE_CHECK_METRICS: setting(type.flag, "whether /metrics/checks has metrics of checks, for Prometheus", {
    fallback: "false",
  }),
  SERVICE_CHECK_METRICS_LABELS: setting(
    type.labelKeys,
    "labels of checks and agents that metrics of checks have",
    { whenUnset: "none" },
  ),
}
