import type { SettingProblem } from "../../settings/Setting.ts"
import { attention, failed, type Findings, ok } from "./Finding.ts"

const CHECK = "settings"

/** Whether a server could start with the settings of the environment, and which of its variables are no settings. */
export const examineSettings = (
  problems: ReadonlyArray<SettingProblem>,
  unknown: ReadonlyArray<SettingProblem>,
): Findings => [...examineKnown(problems), ...unknown.map(({ message }) => attention(CHECK, message))]

const examineKnown = (problems: ReadonlyArray<SettingProblem>): Findings =>
  problems.length === 0
    ? [ok(CHECK, "all settings can be used")]
    : problems.map(({ name, message }) =>
        // Commands need no token, so it may be given to the server's process only.
        name === "SERVICE_AUTH_TOKEN" && message.includes("is not set")
          ? attention(CHECK, `${message}; ignore this if the server gets the setting elsewhere`)
          : failed(CHECK, `${message}; see tocsin serve --help`, "usage"),
      )
