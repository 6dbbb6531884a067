import { readFileSync } from "node:fs"
import { Result } from "effect"

/** What a setting was given, and how a message names the place that it was found in. */
export interface GivenText {
  /** Absent where the setting is not given. */
  readonly text: string | undefined
  readonly place: string
}

/** The variable that names a file which holds the setting: secrets of containers and systemd's credentials are files. */
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

/** The text of a secret's file. Its path is in no message: somebody may have put the secret itself there. */
const fileText = (variable: string, path: string): Result.Result<string, string> => {
  const read = Result.try(() => readFileSync(path, "utf8"))
  if (Result.isFailure(read)) return Result.fail(readFailureMessage(variable, codeOf(read.failure)))
  return isGiven(read.success)
    ? Result.succeed(read.success)
    : Result.fail(`${variable} names an empty file: write the setting into it, or unset ${variable}`)
}

/**
 * The text of a setting: its variable's, or for a secret that of the file which the variable with `_FILE` behind its name
 * names. An empty variable counts as unset; an empty file does not, for whoever named it meant something. Fails with what a
 * person is told.
 */
export const givenText = (
  name: string,
  isSecret: boolean,
  environment: Readonly<Record<string, string | undefined>>,
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
