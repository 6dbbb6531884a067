import { IntegrationName } from "@tocsin/contract/integrations/Integrations"
import { Schema } from "effect"
import type { OwnValues, PlacedSettings, Rules } from "../../parts.ts"
import { flag, setting, type SettingType } from "../../settings/settingTypes.ts"

/** The name of an integration, and of its agent. */
const integrationName: SettingType<IntegrationName> = {
  takes: "1 to 64 letters, digits or the characters . _ : -",
  parse: (given) => (Schema.is(IntegrationName)(given) ? given : undefined),
}

/** Addresses that the service examines (docs/rules.md#watches). */
export const settings = {
  SERVICE_DENY_PRIVATE_TARGETS: {
    SERVICE_WATCH_AGENT: setting(integrationName, "the agent that has the results of watches", {
      fallback: "watches",
    }),
    SERVICE_WATCH_LOOPBACK: setting(
      flag,
      "whether watches, and receivers with stored secrets, may connect to loopback addresses",
      { whenUnset: "the setting watch_loopback, else false" },
    ),
  },
} satisfies PlacedSettings

export const rules = ({ SERVICE_WATCH_AGENT, SERVICE_WATCH_LOOPBACK }: OwnValues<typeof settings>) =>
  ({ watchAgent: SERVICE_WATCH_AGENT, watchLoopback: SERVICE_WATCH_LOOPBACK }) satisfies Rules
