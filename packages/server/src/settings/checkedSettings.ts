import { Result, Schema } from "effect"
import { contradictions } from "./contradictions.ts"
import { refusedTargets } from "./refusedTargets.ts"
import type { SettingProblem } from "./Setting.ts"
import { readSettings, type Settings } from "./Settings.ts"
import { unknownSettings } from "./unknownSettings.ts"

/** Some settings are bad: all of them, each with what it holds and what it takes. */
export class BadSettings extends Schema.TaggedError<BadSettings>()("BadSettings", {
  message: Schema.String,
}) {}

type Environment = Readonly<Record<string, string | undefined>>

/** Settings of which some may be bad, with all that is wrong: by themselves, and together. */
export const examinedSettings = (
  environment: Environment,
): { readonly values: Partial<Settings>; readonly problems: ReadonlyArray<SettingProblem> } => {
  const { values, problems } = readSettings(environment)
  return { values, problems: [...problems, ...contradictions(values, problems), ...refusedTargets(values)] }
}

const checked = (
  { values, problems }: ReturnType<typeof examinedSettings>,
  heading: string,
  environment: Environment,
): Result.Result<Settings, BadSettings> => {
  // Without a problem every setting has its value.
  if (problems.length === 0) return Result.succeed(values as Settings)
  // A setting that is missing may be there under a misspelt name.
  const lines = [...problems, ...unknownSettings(environment)].map(({ message }) => `  ${message}`)
  return Result.fail(new BadSettings({ message: [heading, ...lines].join("\n") }))
}

/** Reads all settings of a server from the environment; fails once, naming all that is bad about them. */
export const checkedSettings = (environment: Environment): Result.Result<Settings, BadSettings> =>
  checked(examinedSettings(environment), "Tocsin cannot start with these settings (see --help):", environment)

/** The same for commands, which answer no requests: what only those need may be missing. */
export const commandSettings = (environment: Environment): Result.Result<Settings, BadSettings> => {
  const { values, problems } = examinedSettings(environment)
  return checked(
    {
      values,
      problems: problems.filter(
        ({ name }) => name !== "SERVICE_AUTH_TOKEN" || values.SERVICE_AUTH_TOKEN !== undefined,
      ),
    },
    "these settings are not valid (see tocsin serve --help):",
    environment,
  )
}
