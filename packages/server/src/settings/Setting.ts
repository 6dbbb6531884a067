import { Result, Schema } from "effect"

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
  /** A secret is never repeated in a message. */
  readonly isSecret?: true
}

/** What a bad setting is told as. */
export interface SettingProblem {
  readonly name: string
  readonly message: string
}

const LONGEST_ECHO = 64

/** Reads one setting from the text of its variable; an empty text counts as unset. */
export const readSetting = <A>(
  name: string,
  setting: Setting<A>,
  text: string | undefined,
): Result.Result<A | undefined, SettingProblem> => {
  const given = text === undefined || text.trim() === "" ? undefined : text.trim()
  const effective = given ?? setting.fallback
  if (effective === undefined) return Result.succeed(undefined)
  const held = setting.isSecret
    ? "a value that is not shown"
    : JSON.stringify(effective.slice(0, LONGEST_ECHO))
  return Result.mapError(Schema.decodeUnknownResult(setting.schema)(effective), () => ({
    name,
    message: `${name} holds ${held}, but must be ${setting.takes}`,
  }))
}
