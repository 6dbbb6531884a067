import { randomBytes } from "node:crypto"
import { Option, Tracer } from "effect"
import type { Settings } from "../settings/Settings.ts"

/** How many hex digits of a trace's id decide: as many as a number holds exactly. */
const DIGITS = 13

const chanceOf = (traceId: string): number => Number.parseInt(traceId.slice(-DIGITS), 16) / 16 ** DIGITS

const newTraceId = (): string => randomBytes(16).toString("hex")

const ratioOf = ({ OTEL_TRACES_SAMPLER: sampler, OTEL_TRACES_SAMPLER_ARG: ratio }: Settings): number => {
  if (sampler.endsWith("always_on")) return 1
  return sampler.endsWith("always_off") ? 0 : ratio
}

/** The same tracer, which keeps those traces that OTEL_TRACES_SAMPLER chooses. The spans of one trace stay together. */
export const sampledTracer = (tracer: Tracer.Tracer, settings: Settings): Tracer.Tracer => {
  const ratio = ratioOf(settings)
  const followsParents = settings.OTEL_TRACES_SAMPLER.startsWith("parentbased_")
  const isSampled = (parent: Tracer.AnySpan | undefined): boolean => {
    // Our own spans were decided on; those of a caller count where the sampler says so.
    if (parent !== undefined && (parent._tag === "Span" || followsParents)) return parent.sampled
    return chanceOf(parent?.traceId ?? newTraceId()) < ratio
  }
  return Tracer.make({
    ...tracer,
    span: (options) => tracer.span({ ...options, sampled: isSampled(Option.getOrUndefined(options.parent)) }),
  })
}
