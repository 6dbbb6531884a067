import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { OtlpSerialization, type OtlpTracer } from "effect/observability"
import * as fc from "fast-check"
import { encodeTraces } from "../../src/telemetry/encodeTraces.ts"

const hex = (length: number) => fc.stringMatching(new RegExp(`^[0-9a-f]{${length}}$`))
const text = fc.oneof(fc.string({ maxLength: 200 }), fc.string({ unit: "grapheme", maxLength: 50 }))
const nanos = fc.bigInt(0n, 2n ** 63n).map(String)

const attributes = fc.array(
  fc.record({
    key: text,
    value: fc.oneof(
      fc.record({ stringValue: text }),
      fc.record({ boolValue: fc.boolean() }),
      fc.record({ intValue: fc.maxSafeNat() }),
      fc.record({ doubleValue: fc.double() }),
    ),
  }),
  { maxLength: 12 },
)

const span = fc.record({
  traceId: hex(32),
  spanId: hex(16),
  parentSpanId: fc.option(hex(16), { nil: undefined }),
  name: text,
  kind: fc.nat(5),
  startTimeUnixNano: nanos,
  endTimeUnixNano: nanos,
  attributes,
  events: fc.array(
    fc.record({ name: text, timeUnixNano: nanos, attributes, droppedAttributesCount: fc.constant(0) }),
    { maxLength: 2 },
  ),
  links: fc.array(
    fc.record({ traceId: hex(32), spanId: hex(16), attributes, droppedAttributesCount: fc.constant(0) }),
    { maxLength: 2 },
  ),
  status: fc.record({ code: fc.constantFrom(0, 1, 2), message: text }, { requiredKeys: ["code"] }),
  droppedAttributesCount: fc.constant(0),
  droppedEventsCount: fc.constant(0),
  droppedLinksCount: fc.constant(0),
})

const traces: fc.Arbitrary<OtlpTracer.TraceData> = fc.record({
  resourceSpans: fc.array(
    fc.record({
      resource: fc.record({ attributes, droppedAttributesCount: fc.constant(0) }),
      scopeSpans: fc.array(
        fc.record({
          scope: fc.record({ name: text, version: text }, { requiredKeys: ["name"] }),
          spans: fc.array(span, { maxLength: 5 }),
        }),
        { maxLength: 2 },
      ),
    }),
    { maxLength: 2 },
  ),
})

describe("traces in Protocol Buffers", () => {
  it.effect("are byte for byte what Effect's encoder writes", () =>
    Effect.gen(function* () {
      const effects = yield* OtlpSerialization.OtlpSerialization
      fc.assert(
        fc.property(traces, (data) => {
          const expected = effects.traces(data)
          assert.strictEqual(expected._tag, "Uint8Array")
          if (expected._tag !== "Uint8Array") return
          assert.strictEqual(
            Buffer.from(encodeTraces(data)).toString("hex"),
            Buffer.from(expected.body).toString("hex"),
          )
        }),
      )
    }).pipe(Effect.provide(OtlpSerialization.layerProtobuf)),
  )
})
