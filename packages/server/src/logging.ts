import { Layer, Logger, References } from "effect"
import type { Settings } from "./settings/Settings.ts"

const LEVELS = { trace: "Trace", debug: "Debug", info: "Info", warn: "Warn", error: "Error" } as const

/** The log, on standard error: standard output is for what a person asked for. */
export const loggingLayer = (settings: Settings, isTerminal: boolean) => {
  const format = settings.SERVICE_LOG_FORMAT ?? (isTerminal ? "pretty" : "json")
  const logger = format === "json" ? Logger.withConsoleError(Logger.formatJson) : Logger.consolePretty()
  return Layer.mergeAll(
    Logger.layer([logger]),
    Layer.succeed(References.MinimumLogLevel, LEVELS[settings.SERVICE_LOG_LEVEL]),
    Layer.succeed(Logger.LogToStderr, true),
  )
}
