import type { OwnValues, PlacedSettings, Retention } from "../../parts.ts"
import * as type from "../../settings/settingTypes.ts"

const { setting } = type

/** Numbers of checks over time (docs/rules.md#numbers). */
export const settings = {
  SERVICE_RETENTION_AUDIT: {
    SERVICE_RETENTION_NUMBERS: setting(type.keepFor, "how long numbers over time are kept", {
      fallback: "93d",
    }),
    SERVICE_NUMBERS_SERIES: setting(
      type.wholeNumber(0, 200_000),
      "how many series of numbers over time are kept; 0 for none",
      { fallback: "20000" },
    ),
  },
} satisfies PlacedSettings

export const retention = ({ SERVICE_RETENTION_NUMBERS }: OwnValues<typeof settings>) =>
  ({ numbers: type.spanOf(SERVICE_RETENTION_NUMBERS) }) satisfies Retention
