import type { Setting } from "./Setting.ts"
import { definitions } from "./Settings.ts"

const describe = (name: string, setting: Setting<unknown>): string =>
  [
    `  ${name}`,
    `      ${setting.meaning}`,
    `      takes ${setting.takes}`,
    `      default: ${setting.fallback ?? setting.whenUnset ?? "none"}`,
  ].join("\n")

/** What `--help` prints: every setting, from the very definitions that are read. */
export const helpText = (): string =>
  [
    "Tocsin: heartbeats and check results in, incidents and notifications out.",
    "",
    "Usage: npm start [-- --help | --version]",
    "",
    "Settings (environment variables):",
    ...Object.entries<Setting<unknown>>(definitions).map(([name, setting]) => describe(name, setting)),
    "",
  ].join("\n")
