import { Result, Schema } from "effect"
import { contradictions } from "./contradictions.ts"
import { refusedTargets } from "./refusedTargets.ts"
import { readSettings, type Settings } from "./Settings.ts"

/** Some settings are bad: all of them, each with what it holds and what it takes. */
export class BadSettings extends Schema.TaggedError<BadSettings>()("BadSettings", {
  message: Schema.String,
}) {}

/** Reads all settings from the environment; fails once, naming all that is bad about them. */
export const checkedSettings = (
  environment: Readonly<Record<string, string | undefined>>,
): Result.Result<Settings, BadSettings> => {
  const { values, problems } = readSettings(environment)
  const all = [...problems, ...contradictions(values, problems), ...refusedTargets(values)]
  // Without a problem every setting has its value.
  if (all.length === 0) return Result.succeed(values as Settings)
  const lines = all.map(({ message }) => `  ${message}`)
  return Result.fail(
    new BadSettings({
      message: ["Tocsin cannot start with these settings (see --help):", ...lines].join("\n"),
    }),
  )
}
