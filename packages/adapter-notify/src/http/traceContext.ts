import { Effect, Tracer } from "effect"

/** Header fields that tell a receiver which trace an attempt belongs to (W3C Trace Context); none where nobody keeps traces. */
export const traceContext: Effect.Effect<Readonly<Record<string, string>>> = Effect.withFiber((fiber) => {
  const { span, tracer } = fiber.cache
  const isKept = tracer !== undefined && tracer !== Tracer.nativeTracer
  if (span === undefined || !isKept) return Effect.succeed({})
  const flags = span.sampled ? "01" : "00"
  return Effect.succeed({ traceparent: `00-${span.traceId.padStart(32, "0")}-${span.spanId}-${flags}` })
})
