import type { OtlpTracer } from "effect/observability"
import { ReverseProtobuf } from "./ReverseProtobuf.ts"

type ScopeSpan = OtlpTracer.TraceData["resourceSpans"][number]["scopeSpans"][number]
type Span = ScopeSpan["spans"][number]
type Attributes = Span["attributes"]
type Value = Attributes[number]["value"]

const USUAL_SPAN_BYTES = 640

const lastFirst = <A>(items: ReadonlyArray<A>, write: (item: A) => void): void => {
  for (let index = items.length - 1; index >= 0; index -= 1) {
    const item = items[index]
    if (item !== undefined) write(item)
  }
}

const writeOptional = (out: ReverseProtobuf, field: number, text = ""): void => {
  if (text !== "") out.string(field, text)
}

/** Writes the kinds of values that Tocsin's spans have. */
const writeValue = (out: ReverseProtobuf, value: Value): void => {
  const { stringValue, boolValue, intValue, doubleValue } = value
  if (typeof stringValue === "string") out.string(1, stringValue)
  else if (typeof boolValue === "boolean") out.integer(2, Number(boolValue))
  else if (typeof intValue === "number" && intValue >= 0) out.integer(3, intValue)
  else if (typeof doubleValue === "number") out.double(4, doubleValue)
  else out.string(1, JSON.stringify(value))
}

const writeAttributes = (out: ReverseProtobuf, field: number, attributes: Attributes): void =>
  lastFirst(attributes, ({ key, value }) =>
    out.message(field, () => {
      out.message(2, () => writeValue(out, value))
      out.string(1, key)
    }),
  )

const writeSpan = (out: ReverseProtobuf, span: Span): void => {
  out.message(15, () => {
    out.integer(3, span.status.code)
    writeOptional(out, 2, span.status.message)
  })
  lastFirst(span.links, (link) =>
    out.message(13, () => {
      writeAttributes(out, 4, link.attributes)
      out.hex(2, link.spanId)
      out.hex(1, link.traceId)
    }),
  )
  lastFirst(span.events, (event) =>
    out.message(11, () => {
      writeAttributes(out, 3, event.attributes)
      out.string(2, event.name)
      out.fixed64(1, BigInt(event.timeUnixNano))
    }),
  )
  writeAttributes(out, 9, span.attributes)
  out.fixed64(8, BigInt(span.endTimeUnixNano))
  out.fixed64(7, BigInt(span.startTimeUnixNano))
  out.integer(6, span.kind)
  out.string(5, span.name)
  if (span.parentSpanId !== undefined) out.hex(4, span.parentSpanId)
  out.hex(2, span.spanId)
  out.hex(1, span.traceId)
}

/**
 * Encodes spans as `TracesData` of OpenTelemetry's `trace.proto`. Effect's own encoder makes
 * several arrays of each field, which costs more than all other work of a request.
 */
export const encodeTraces = ({ resourceSpans }: OtlpTracer.TraceData): Uint8Array => {
  const spans = resourceSpans.reduce((sum, { scopeSpans }) => sum + (scopeSpans[0]?.spans.length ?? 0), 0)
  const out = new ReverseProtobuf((1 + spans) * USUAL_SPAN_BYTES)
  lastFirst(resourceSpans, ({ resource, scopeSpans }) =>
    out.message(1, () => {
      lastFirst(scopeSpans, ({ scope, spans: some }) =>
        out.message(2, () => {
          lastFirst(some, (span) => out.message(2, () => writeSpan(out, span)))
          out.message(1, () => {
            writeOptional(out, 2, scope.version)
            out.string(1, scope.name)
          })
        }),
      )
      out.message(1, () => writeAttributes(out, 1, resource.attributes))
    }),
  )
  return out.written()
}
