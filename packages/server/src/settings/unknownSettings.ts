import { nearestName } from "@tocsin/core/contract/nearestName"
import { fileVariableOf } from "./givenText.ts"
import type { Setting, SettingProblem } from "./Setting.ts"
import { definitions } from "./Settings.ts"

const PREFIX = "SERVICE_"

const known = Object.entries<Setting<unknown>>(definitions).flatMap(([name, { isSecret }]) =>
  isSecret ? [name, fileVariableOf(name)] : [name],
)

const isGiven = (text: string | undefined): boolean => text !== undefined && text.trim() !== ""

/** Variables that look like settings and are none: probably misspelt. Their values are in no message. */
export const unknownSettings = (
  environment: Readonly<Record<string, string | undefined>>,
): ReadonlyArray<SettingProblem> =>
  Object.keys(environment)
    .filter((name) => name.startsWith(PREFIX) && !known.includes(name) && isGiven(environment[name]))
    .toSorted()
    .map((name) => {
      const nearest = nearestName(name, known)
      return {
        name,
        message:
          nearest === undefined
            ? `${name} is not a setting and has no effect; see tocsin serve --help for all settings`
            : `${name} is not a setting and has no effect; did you mean ${nearest}?`,
      }
    })
