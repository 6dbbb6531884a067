import { MAX_SECRET_BYTES, readBoundedFile } from "@tocsin/adapter-notify/readBoundedFile"
import { nearestName } from "@tocsin/contract/nearestName"
import { Result } from "effect"
import { withoutSecrets } from "../output/texts.ts"
import { definitions, type Settings } from "./Settings.ts"
import type { Setting } from "./settingTypes.ts"

export type Environment = Readonly<Record<string, string | undefined>>

/** The fault of a setting. */
export interface SettingProblem {
  readonly name: string
  readonly message: string
  /** The server needs this setting and it is not set; commands do without it. */
  readonly isMissing?: true
}

/** Settings of which some may be invalid; those have no value. */
export interface SettingsRead {
  readonly values: Partial<Settings>
  readonly problems: ReadonlyArray<SettingProblem>
}

/** A setting's text, and how a message names the place where it was found. */
interface GivenText {
  /** Absent if the setting is not set. */
  readonly text: string | undefined
  readonly place: string
}

const settings = Object.entries<Setting<unknown>>(definitions)

/** Names a file with the secret: container secrets and systemd credentials are files. */
export const fileVariableOf = (name: string): string => `${name}_FILE`

const isGiven = (text: string | undefined): text is string => text !== undefined && text.trim() !== ""

const READ_FAILURES: Readonly<Record<string, (variable: string) => string>> = {
  ENOENT: (variable) => `${variable} names a file that does not exist: correct the path, or mount the file`,
  EACCES: (variable) => `${variable} names a file that Tocsin's user cannot read: make that user its owner`,
  EISDIR: (variable) => `${variable} names a folder, but must name a file`,
}

const readFailureMessage = (variable: string, code: string): string =>
  READ_FAILURES[code]?.(variable) ?? `${variable} names a file that cannot be read (${code}): check its disk`

const codeOf = (cause: unknown): string =>
  cause instanceof Error && "code" in cause && typeof cause.code === "string" ? cause.code : ""

/**
 * The text of a secret's file. Messages omit its path, which may be the secret itself by mistake.
 */
const fileText = (variable: string, path: string): Result.Result<string, string> => {
  const read = Result.try(() => readBoundedFile(path, MAX_SECRET_BYTES))
  if (Result.isFailure(read)) return Result.fail(readFailureMessage(variable, codeOf(read.failure)))
  if (read.success === undefined)
    return Result.fail(`${variable} names a file that is larger than 64 KiB: correct the path`)
  return isGiven(read.success)
    ? Result.succeed(read.success)
    : Result.fail(`${variable} names an empty file: write the setting into it, or unset ${variable}`)
}

/** An empty variable counts as unset; an empty file does not, because its variable is set. */
const givenText = (
  name: string,
  isSecret: boolean,
  environment: Environment,
): Result.Result<GivenText, string> => {
  const own = environment[name]
  const variable = fileVariableOf(name)
  const path = isSecret ? environment[variable] : undefined
  if (!isGiven(path)) return Result.succeed({ text: isGiven(own) ? own.trim() : undefined, place: name })
  if (isGiven(own)) return Result.fail(`${name} and ${variable} are both set; unset one of them`)
  return Result.map(fileText(variable, path.trim()), (text) => ({
    text: text.trim(),
    place: `the file that ${variable} names`,
  }))
}

const LONGEST_ECHO = 64

const readSetting = (
  name: string,
  { parse, takes, isSecret, ...unset }: Setting<unknown>,
  environment: Environment,
): Result.Result<unknown, string> =>
  Result.flatMap(givenText(name, isSecret === true, environment), ({ text, place }) => {
    const effective = text ?? ("fallback" in unset ? unset.fallback : undefined)
    if (effective === undefined) return Result.succeed(undefined)
    const value = parse(effective)
    if (value !== undefined) return Result.succeed(value)
    const shown = isSecret
      ? "a value that is not shown"
      : JSON.stringify(withoutSecrets(effective).slice(0, LONGEST_ECHO))
    return Result.fail(`${place} is set to ${shown}, but must be ${takes}`)
  })

/** Reads each setting on its own. */
export const readSettings = (environment: Environment): SettingsRead => {
  const problems: Array<SettingProblem> = []
  const values: Record<string, unknown> = {}
  for (const [name, definition] of settings) {
    Result.match(readSetting(name, definition, environment), {
      onSuccess: (value) => (values[name] = value),
      onFailure: (message) => problems.push({ name, message }),
    })
  }
  // Each value was parsed by the type of its name.
  return { values: values as Partial<Settings>, problems }
}

const PREFIX = "SERVICE_"

const known = settings.flatMap(([name, { isSecret }]) => (isSecret ? [name, fileVariableOf(name)] : [name]))

/** Variables that look like settings but are not, probably misspelt. Messages omit their values. */
export const unknownSettings = (environment: Environment): ReadonlyArray<SettingProblem> =>
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
