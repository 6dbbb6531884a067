import type { PlacedSettings } from "../../parts.ts"
import * as type from "../../settings/settingTypes.ts"

const { setting } = type

/** The download of the agent (docs/agent.md#install). */
export const settings = {
  SERVICE_CONSOLE: {
    SERVICE_AGENT_DOWNLOADS: setting(type.flag, "whether the server hands out the agent at /agent", {
      fallback: "true",
    }),
    SERVICE_AGENT_DIR: setting(
      type.text("the path of a folder"),
      "folder of further files to hand out at /agent, such as executables of the agent (docs/agent.md#install)",
      { whenUnset: "none" },
    ),
  },
} satisfies PlacedSettings
