import { entryText } from "@tocsin/core/kernel/engine/entryText"
import { LinesTogether } from "@tocsin/core/kernel/engine/logTogether"
import { Cause, Console, Effect, Formatter, Layer, Logger, References, Tracer } from "effect"
import type { Settings } from "./settings/Settings.ts"
import { exportsTelemetry } from "./telemetry/endpoints.ts"

const LEVELS = { trace: "Trace", debug: "Debug", info: "Info", warn: "Warn", error: "Error" } as const

const isPlain = (value: unknown): boolean =>
  typeof value === "string" || typeof value === "number" || typeof value === "boolean" || value === undefined

/** JSON of fields: the formatter, which looks for secrets and circles, takes four times as long. */
const toJson = (fields: object): string =>
  Object.values(fields).every(isPlain) ? JSON.stringify(fields) : Formatter.formatJson(fields)

/** An entry as one line of JSON: time, level, message, fields, cause and trace. */
export const toJsonLine = (options: Logger.Options<unknown>): string => {
  const { date, fiber, logLevel } = options
  const { message, cause } = entryText(options)
  const { span } = fiber.cache
  const standard = { timestamp: date.toISOString(), level: logLevel.toLowerCase(), message }
  return toJson({
    ...standard,
    ...fiber.getRef(References.CurrentLogAnnotations),
    ...(cause !== undefined && { cause }),
    ...(span !== undefined &&
      isExported(fiber.cache.tracer) && { trace_id: span.traceId, span_id: span.spanId }),
    // Again, so that a field of the same name cannot replace them.
    ...standard,
  })
}

// Without an exporter nothing keeps the spans, and their IDs lead nowhere.
const isExported = (tracer: Tracer.Tracer | undefined): boolean =>
  tracer !== undefined && tracer !== Tracer.nativeTracer

const jsonLogger = Logger.make((options) => {
  const line = toJsonLine(options)
  const together = options.fiber.getRef(LinesTogether)
  if (together !== undefined) together.push(line)
  else options.fiber.getRef(Console.Console).error(line)
})

const prettyLogger = () => {
  const pretty = Logger.consolePretty()
  return Logger.make((options) => {
    const { message, cause } = entryText(options)
    pretty.log({
      ...options,
      message: cause === undefined ? [message] : [message, cause],
      cause: Cause.empty,
    })
  })
}

/** The log on standard error: standard output is for results. */
export const loggingLayer = (
  settings: Pick<Settings, "SERVICE_LOG_FORMAT" | "SERVICE_LOG_LEVEL">,
  isTerminal: boolean,
) => {
  const format = settings.SERVICE_LOG_FORMAT ?? (isTerminal ? "pretty" : "json")
  const logger = format === "json" ? jsonLogger : prettyLogger()
  return Layer.mergeAll(
    Logger.layer([logger]),
    Layer.succeed(References.MinimumLogLevel, LEVELS[settings.SERVICE_LOG_LEVEL]),
    Layer.succeed(Logger.LogToStderr, true),
  )
}

/** The log, and the export to a collector if one is set. Its code is loaded only then. */
export const observabilityLayer = (settings: Settings, isTerminal: boolean) => {
  const logging = loggingLayer(settings, isTerminal)
  if (!exportsTelemetry(settings)) return logging
  const loaded = Effect.promise(() => import("./telemetry/openTelemetry.ts"))
  return Layer.unwrap(Effect.map(loaded, ({ layer }) => layer(settings))).pipe(Layer.provideMerge(logging))
}
