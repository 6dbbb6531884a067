import { Cause, Formatter, type Logger, LogLevel, References } from "effect"

export interface EntryText {
  readonly message: string
  /** Absent if nothing failed. */
  readonly cause?: string
}

/** How many causes of causes a line names. */
const MOST_CAUSES = 5

const causeIn = (part: unknown): Cause.Cause<unknown> | undefined => {
  if (Cause.isCause(part)) return part
  return part instanceof Error ? Cause.fail(part) : undefined
}

const textOf = (part: unknown): string => (typeof part === "string" ? part : Formatter.formatJson(part))

/** The error of a connection that was tried at two addresses may have no message. */
const explainError = (error: Error): string =>
  error instanceof AggregateError && error.message === ""
    ? error.errors.map((each) => (each instanceof Error ? each.message : textOf(each))).join("; ")
    : error.message

const errorLine = (error: unknown, causesLeft: number): string => {
  if (!(error instanceof Error)) return textOf(error)
  const line = `${error.name}: ${explainError(error)}`
  return error.cause === undefined || causesLeft === 0
    ? line
    : `${line} [cause]: ${errorLine(error.cause, causesLeft - 1)}`
}

const withoutStack = (reason: Cause.Reason<unknown>): string => {
  // A defect is a bug in the program: only its stack finds it.
  if (Cause.isDieReason(reason)) return Cause.pretty(Cause.fromReasons([reason]))
  return Cause.isFailReason(reason) ? errorLine(reason.error, MOST_CAUSES) : "interrupted"
}

/**
 * Renders a log entry. A predicted failure is one line, because an outage repeats it by the
 * thousand; its stack appears only in a debug log.
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
