import { Cause, Layer, Logger, type LogLevel, References } from "effect"
import type { Log, LogEntry } from "./LogEntry.ts"

const LEVELS: Readonly<Record<LogLevel.LogLevel, LogEntry["level"]>> = {
  All: "debug",
  Trace: "debug",
  Debug: "debug",
  Info: "info",
  Warn: "warn",
  Error: "error",
  Fatal: "error",
  None: "error",
}

/** What was logged beside the message, for its reason. */
const causeOf = (part: unknown): Cause.Cause<unknown> | undefined => {
  if (Cause.isCause(part)) return part
  return part instanceof Error ? Cause.fail(part) : undefined
}

const textOf = (part: unknown): string => (typeof part === "string" ? part : JSON.stringify(part))

const toEntry = ({ message, logLevel, cause, fiber, date }: Logger.Options<unknown>): LogEntry => {
  const parts: ReadonlyArray<unknown> = Array.isArray(message) ? message : [message]
  const causes = [...parts.map(causeOf), cause].filter((found) => found !== undefined)
  const reasons = causes.filter(({ reasons: found }) => found.length > 0)
  return {
    level: LEVELS[logLevel],
    message: parts
      .filter((part) => causeOf(part) === undefined)
      .map(textOf)
      .join(" "),
    fields: fiber.getRef(References.CurrentLogAnnotations),
    ...(reasons.length > 0 && { cause: reasons.map((found) => Cause.pretty(found)).join("\n") }),
    time: date.toISOString(),
  }
}

/** One line for people, and the cause below it. */
const toConsole: Log = ({ level, message, fields, cause, time }) => {
  const known = Object.keys(fields).length === 0 ? "" : ` ${JSON.stringify(fields)}`
  console.error(`${time} tocsin ${level}: ${message}${known}${cause === undefined ? "" : `\n${cause}`}`)
}

const tell = (log: Log, entry: LogEntry): void => {
  try {
    log(entry)
  } catch {
    // A log that fails is no reason to stop what it is told of.
  }
}

/** The log of a monitor, from `info` on. */
export const logLayer = (log: Log | false = toConsole): Layer.Layer<never> => {
  if (log === false) return Logger.layer([])
  return Layer.mergeAll(
    Logger.layer([Logger.make((options) => tell(log, toEntry(options)))]),
    Layer.succeed(References.MinimumLogLevel, "Info"),
  )
}
