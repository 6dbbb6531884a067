import { entryText } from "@tocsin/core/kernel/engine/entryText"
import { Layer, type LogLevel, Logger, References } from "effect"

/** An entry for the program's log. It contains no secret of Tocsin. */
export interface LogEntry {
  readonly level: "debug" | "info" | "warn" | "error"
  readonly message: string
  /** Details, by name. */
  readonly fields: { readonly [name: string]: unknown }
  /** The cause as text of several lines. */
  readonly cause?: string
  /** The time of the monitor's clock. */
  readonly time: string
}

/** Receives log entries as they happen, so it should be quick. */
export type Log = (entry: LogEntry) => void

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

const toEntry = (options: Logger.Options<unknown>): LogEntry => {
  const { message, cause } = entryText(options)
  return {
    level: LEVELS[options.logLevel],
    message,
    fields: options.fiber.getRef(References.CurrentLogAnnotations),
    ...(cause !== undefined && { cause }),
    time: options.date.toISOString(),
  }
}

/** One line for people, and the cause below it. */
const toConsole: Log = ({ level, message, fields, cause, time }) => {
  const known = Object.keys(fields).length === 0 ? "" : ` ${JSON.stringify(fields)}`
  console.error(`${time} tocsin ${level}: ${message}${known}${cause === undefined ? "" : `\n${cause}`}`)
}

const writeEntry = (log: Log, entry: LogEntry): void => {
  try {
    log(entry)
  } catch {
    // A log that fails is no reason to stop the work that it records.
  }
}

/** The log of a monitor, from `info` on. */
export const logLayer = (log: Log | false = toConsole): Layer.Layer<never> => {
  if (log === false) return Logger.layer([])
  return Layer.mergeAll(
    Logger.layer([Logger.make((options) => writeEntry(log, toEntry(options)))]),
    Layer.succeed(References.MinimumLogLevel, "Info"),
  )
}
