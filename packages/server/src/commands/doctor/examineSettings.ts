import type { SettingProblem } from "../../settings/readSettings.ts"
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
    : problems.map(({ message, isMissing = false }) =>
        // It may be set for the server's process only.
        isMissing
          ? attention(CHECK, `${message}; ignore this if the server gets the setting elsewhere`)
          : failed(CHECK, `${message}; see tocsin serve --help`, "usage"),
      )
