import { Cause, Effect, Formatter, Layer, Logger, References, Tracer } from "effect"
import type { Settings } from "./settings/Settings.ts"
import { exportsTelemetry } from "./telemetry/exports.ts"

const LEVELS = { trace: "Trace", debug: "Debug", info: "Info", warn: "Warn", error: "Error" } as const

/** What was logged beside the message, for its reason. */
const causeOf = (part: unknown): Cause.Cause<unknown> | undefined => {
  if (Cause.isCause(part)) return part
  return part instanceof Error ? Cause.fail(part) : undefined
}

const textOf = (part: unknown): string => (typeof part === "string" ? part : Formatter.formatJson(part))

/** One line for one entry: a JSON object of its time, level, message, fields, cause, and the trace that it belongs to. */
export const toJsonLine = ({ cause, date, fiber, logLevel, message }: Logger.Options<unknown>): string => {
  const parts: ReadonlyArray<unknown> = Array.isArray(message) ? message : [message]
  const causes = [...parts.map(causeOf), cause].filter((found) => found !== undefined)
  const reasons = causes.filter((found) => found.reasons.length > 0)
  const { span } = fiber.cache
  const told = {
    timestamp: date.toISOString(),
    level: logLevel.toLowerCase(),
    message: parts
      .filter((part) => causeOf(part) === undefined)
      .map(textOf)
      .join(" "),
  }
  return Formatter.formatJson({
    ...told,
    ...fiber.getRef(References.CurrentLogAnnotations),
    ...(reasons.length > 0 && { cause: reasons.map((found) => Cause.pretty(found)).join("\n") }),
    ...(span !== undefined &&
      isExported(fiber.cache.tracer) && { trace_id: span.traceId, span_id: span.spanId }),
    // Again: a field of such a name must not take its place.
    ...told,
  })
}

// Where nobody keeps spans, their ids lead nowhere.
const isExported = (tracer: Tracer.Tracer | undefined): boolean =>
  tracer !== undefined && tracer !== Tracer.nativeTracer

/** The log, on standard error: standard output is for what a person asked for. */
export const loggingLayer = (settings: Settings, isTerminal: boolean) => {
  const format = settings.SERVICE_LOG_FORMAT ?? (isTerminal ? "pretty" : "json")
  const logger = format === "json" ? Logger.withConsoleError(Logger.make(toJsonLine)) : Logger.consolePretty()
  return Layer.mergeAll(
    Logger.layer([logger]),
    Layer.succeed(References.MinimumLogLevel, LEVELS[settings.SERVICE_LOG_LEVEL]),
    Layer.succeed(Logger.LogToStderr, true),
  )
}

/** The same, and all that goes to a collector, where one is set: what only that needs is loaded only then. */
export const observabilityLayer = (settings: Settings, isTerminal: boolean) => {
  const logging = loggingLayer(settings, isTerminal)
  if (!exportsTelemetry(settings)) return logging
  const loaded = Effect.promise(() => import("./telemetry/openTelemetry.ts"))
  return Layer.unwrap(Effect.map(loaded, ({ layer }) => layer(settings))).pipe(Layer.provideMerge(logging))
}
