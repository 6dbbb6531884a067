import type { OwnValues, PlacedSettings, Rules } from "../../parts.ts"
import { setting, threshold } from "../../settings/settingTypes.ts"

export const settings = {
  SERVICE_ACK_MAX: {
    SERVICE_SILENCE_MAX: setting(threshold, "how long a silence may last", { fallback: "30d" }),
  },
} satisfies PlacedSettings

export const rules = ({ SERVICE_SILENCE_MAX }: OwnValues<typeof settings>) =>
  ({ longestSilence: SERVICE_SILENCE_MAX }) satisfies Rules
