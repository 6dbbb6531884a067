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

const textOf = (part: unknown): string => {
  if (part instanceof Error) return part.message
  return typeof part === "string" ? part : JSON.stringify(part)
}

const isCause = (part: unknown): part is Cause.Cause<unknown> => Cause.isCause(part)

const toEntry = ({ message, logLevel, cause, fiber, date }: Logger.Options<unknown>): LogEntry => {
  const parts = Array.isArray(message) ? message : [message]
  const causes = [...parts.filter(isCause), cause].filter((found) => found.reasons.length > 0)
  return {
    level: LEVELS[logLevel],
    message: parts
      .filter((part) => !isCause(part))
      .map(textOf)
      .join(" "),
    fields: fiber.getRef(References.CurrentLogAnnotations),
    ...(causes.length > 0 && { cause: causes.map((found) => Cause.pretty(found)).join("\n") }),
    time: date.toISOString(),
  }
}

/** One line for people, and the cause below it. */
const toConsole: Log = ({ level, message, fields, cause, time }) => {
  const known = Object.keys(fields).length === 0 ? "" : ` ${JSON.stringify(fields)}`
  console.error(`${time} tocsin ${level}: ${message}${known}${cause === undefined ? "" : `\n${cause}`}`)
}

/** The log of a monitor, from `info` on. */
export const logLayer = (log: Log | false = toConsole): Layer.Layer<never> => {
  if (log === false) return Logger.layer([])
  return Layer.mergeAll(
    Logger.layer([Logger.make((options) => log(toEntry(options)))]),
    Layer.succeed(References.MinimumLogLevel, "Info"),
  )
}
