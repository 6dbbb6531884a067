import { fileVariableOf } from "./givenText.ts"
import type { Setting } from "./Setting.ts"
import { definitions } from "./Settings.ts"

const describe = (name: string, setting: Setting<unknown>): string =>
  [
    `  ${name}`,
    `      ${setting.meaning}`,
    `      takes ${setting.takes}`,
    `      default: ${setting.fallback ?? setting.whenUnset ?? "none"}`,
    ...(setting.isSecret ? [`      or ${fileVariableOf(name)}: the path of a file that holds it`] : []),
  ].join("\n")

/** A line for each setting with its meaning, what it takes and its default, from the very definitions that are read. */
export const settingsText = (): string =>
  Object.entries<Setting<unknown>>(definitions)
    .map(([name, setting]) => describe(name, setting))
    .join("\n")
