import { Result, Schema } from "effect"
import { givenText } from "./givenText.ts"

/** One setting: its environment variable's meaning and how its text is read. `--help` and the reader use the same one. */
export interface Setting<A, Fallback extends string | undefined = string | undefined> {
  readonly schema: Schema.ConstraintDecoder<A>
  /** What it is for, in a few words. */
  readonly meaning: string
  /** What it takes, to complete "… must be". */
  readonly takes: string
  /** The text that counts when it is unset; `undefined` when being unset is a value of its own. */
  readonly fallback: Fallback
  /** How being unset is described where there is no fallback text. */
  readonly whenUnset?: string
  /** A secret is never repeated in a message, and may be given as a file: see `givenText.ts`. */
  readonly isSecret?: true
}

/** A setting as defined, its type being that of what it is read as. */
export const setting = <A, const Fallback extends string | undefined>(
  definition: Setting<A, Fallback>,
): Setting<A, Fallback> => definition

/** What a bad setting is told as. */
export interface SettingProblem {
  readonly name: string
  readonly message: string
}

const LONGEST_ECHO = 64

/** Reads one setting from the environment; an empty text counts as unset. */
export const readSetting = <A>(
  name: string,
  definition: Setting<A>,
  environment: Readonly<Record<string, string | undefined>>,
): Result.Result<A | undefined, SettingProblem> => {
  const given = givenText(name, definition.isSecret ?? false, environment)
  const value = Result.flatMap(given, ({ text, place }): Result.Result<A | undefined, string> => {
    const effective = text ?? definition.fallback
    if (effective === undefined) return Result.succeed(undefined)
    const held = definition.isSecret
      ? "a value that is not shown"
      : JSON.stringify(effective.slice(0, LONGEST_ECHO))
    return Result.mapError(
      Schema.decodeUnknownResult(definition.schema)(effective),
      () => `${place} is set to ${held}, but must be ${definition.takes}`,
    )
  })
  return Result.mapError(value, (message) => ({ name, message }))
}
