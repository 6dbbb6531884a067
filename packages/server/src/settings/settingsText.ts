import { fileVariableOf } from "./checkedSettings.ts"
import { definitions } from "./Settings.ts"
import type { Setting } from "./settingTypes.ts"

const describe = (name: string, setting: Setting<unknown>): string =>
  [
    `  ${name}`,
    `      ${setting.meaning}`,
    `      takes ${setting.takes}`,
    `      default: ${"fallback" in setting ? setting.fallback : setting.whenUnset}`,
    ...(setting.isSecret ? [`      or ${fileVariableOf(name)}: the path of a file that holds it`] : []),
  ].join("\n")

/** Each setting with its meaning, what it takes and its default, from the table that the server reads. */
export const settingsText = (): string =>
  Object.entries<Setting<unknown>>(definitions)
    .map(([name, setting]) => describe(name, setting))
    .join("\n")
