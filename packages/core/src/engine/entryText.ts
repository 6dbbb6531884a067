import { Cause, Formatter, type Logger, LogLevel, References } from "effect"

/** The texts of one log entry. */
export interface EntryText {
  readonly message: string
  /** Why it happened; absent where nothing failed. */
  readonly cause?: string
}

/** An error's cause has a cause in turn: so many are named. */
const MOST_CAUSES = 5

const causeIn = (part: unknown): Cause.Cause<unknown> | undefined => {
  if (Cause.isCause(part)) return part
  return part instanceof Error ? Cause.fail(part) : undefined
}

const textOf = (part: unknown): string => (typeof part === "string" ? part : Formatter.formatJson(part))

/** An error that stands for several attempts, such as a connection tried at two addresses, may have no words of its own. */
const wordsOf = (error: Error): string =>
  error instanceof AggregateError && error.message === ""
    ? error.errors.map((each) => (each instanceof Error ? each.message : textOf(each))).join("; ")
    : error.message

const errorLine = (error: unknown, causesLeft: number): string => {
  if (!(error instanceof Error)) return textOf(error)
  const line = `${error.name}: ${wordsOf(error)}`
  return error.cause === undefined || causesLeft === 0
    ? line
    : `${line} [cause]: ${errorLine(error.cause, causesLeft - 1)}`
}

const withoutStack = (reason: Cause.Reason<unknown>): string => {
  // A defect is a mistake in the program: without its stack nobody finds it.
  if (Cause.isDieReason(reason)) return Cause.pretty(Cause.fromReasons([reason]))
  return Cause.isFailReason(reason) ? errorLine(reason.error, MOST_CAUSES) : "interrupted"
}

/**
 * What a log entry says. A failure that the program predicts is one line, because an outage repeats it by the thousand; it
 * comes with its stack only where the log holds debug entries.
 */
export const entryText = ({ cause, fiber, message }: Logger.Options<unknown>): EntryText => {
  const parts: ReadonlyArray<unknown> = Array.isArray(message) ? message : [message]
  const causes = [...parts.map(causeIn), cause].filter((found) => found !== undefined)
  const failed = causes.filter(({ reasons }) => reasons.length > 0)
  const hasStacks = LogLevel.isLessThanOrEqualTo(fiber.getRef(References.MinimumLogLevel), "Debug")
  return {
    message: parts
      .filter((part) => causeIn(part) === undefined)
      .map(textOf)
      .join(" "),
    ...(failed.length > 0 && {
      cause: failed
        .flatMap((found) => (hasStacks ? [Cause.pretty(found)] : found.reasons.map(withoutStack)))
        .join("\n"),
    }),
  }
}
