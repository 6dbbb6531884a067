import type { PlacedSettings } from "../../parts.ts"
import { labelName } from "@tocsin/contract/labels/labelName"
import { LABEL_FIELD } from "@tocsin/contract/labels/matcherText"
import * as type from "../../settings/settingTypes.ts"

const { setting } = type

const MOST_LABEL_KEYS = 10

/** Keys of labels that are different also as names in metrics. */
const labelKeys: type.SettingType<ReadonlyArray<string>> = {
  takes: `at most ${MOST_LABEL_KEYS} keys of labels, separated by commas, of which no two differ by other characters than letters, digits and _ alone`,
  parse: (given) => {
    const keys = type.splitWords(given)
    const isRight = keys.length <= MOST_LABEL_KEYS && new Set(keys.map(labelName)).size === keys.length
    return isRight && keys.every((key) => LABEL_FIELD.test(`label:${key}`)) ? keys : undefined
  },
}

/** Metrics of checks, for Prometheus (docs/rules.md#metrics-of-checks). */
export const settings = {
  SERVICE_METRICS_TOKEN: {
    SERVICE_CHECK_METRICS: setting(
      type.flag,
      "whether /metrics/checks has metrics of checks, for Prometheus",
      { fallback: "false" },
    ),
    SERVICE_CHECK_METRICS_LABELS: setting(
      labelKeys,
      "labels of checks and agents that metrics of checks have",
      { whenUnset: "none" },
    ),
  },
} satisfies PlacedSettings
