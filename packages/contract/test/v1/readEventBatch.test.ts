import { assert, describe, it } from "@effect/vitest"
import { propertyRuns } from "@tocsin/testing/propertyRuns"
import { Result, SchemaParser } from "effect"
import * as fc from "fast-check"
import { EventBatchRequest } from "../../src/v1/Requests.ts"
import { readEventBatch } from "../../src/v1/decodeRequest.ts"
import * as arbitraries from "./arbitraries.ts"

const decode = SchemaParser.decodeUnknownResult(EventBatchRequest)

const agreesWithSchema = (body: unknown): boolean => {
  const bySchema = decode(body)
  assert.deepStrictEqual(readEventBatch(body), Result.isSuccess(bySchema) ? bySchema.success : undefined)
  return Result.isSuccess(bySchema)
}

const FIELDS = [
  "event_id", "check_id", "observed_at", "status", "exit_code", "duration_ms", "output", "output_truncated",
  "notifications_enabled", "incident_key", "agent_id", "colour", "__proto__", "constructor",
] // oxfmt-ignore

const values = fc.oneof(
  fc.constantFrom<unknown>(null, undefined, 0, -0, 1.5, -1, 2 ** 53, NaN, true, false, "", "ok", "x", [], {}),
  fc.constantFrom<unknown>("2024-02-29T00:00:00Z", "2023-02-29T00:00:00Z", "2026-01-31T08:30:00+00:00"),
  fc.constantFrom<unknown>("a\0\ud800", "ä".repeat(4096), "ä".repeat(4097), "x".repeat(256), "x".repeat(257)),
  arbitraries.anyText(20),
)

const withField = (target: object, field: string, value: unknown): Record<string, unknown> =>
  // As JSON.parse does it: __proto__ becomes an own property.
  Object.fromEntries([...Object.entries(target).filter(([key]) => key !== field), [field, value]])

describe("readEventBatch", () => {
  it("reads every valid batch as the schema does", () => {
    fc.assert(
      fc.property(arbitraries.eventBatchWire(5), (wire) => {
        assert.isTrue(agreesWithSchema(wire))
      }),
    )
  })

  it("agrees with the schema on batches with one field wrong, added or removed", () => {
    let valid = 0
    let invalid = 0
    fc.assert(
      fc.property(
        arbitraries.eventBatchWire(3),
        fc.nat(2),
        fc.constantFrom(...FIELDS),
        fc.option(values, { nil: "take it away" }),
        (wire, at, field, value) => {
          const events = wire.events.map((event, index) => {
            if (index !== at % wire.events.length) return event
            const rest = Object.fromEntries(Object.entries(event).filter(([key]) => key !== field))
            return value === "take it away" ? rest : withField(event, field, value)
          })
          if (agreesWithSchema({ ...wire, events })) valid++
          else invalid++
        },
      ),
      { numRuns: Math.max(1_000, propertyRuns(3_000)) },
    )
    assert.isAbove(valid, 20)
    assert.isAbove(invalid, 20)
  })

  it("agrees with the schema on the fields beside the events", () => {
    fc.assert(
      fc.property(
        arbitraries.eventBatchWire(1),
        values,
        fc.constantFrom(...FIELDS, "events"),
        (wire, value, field) => {
          agreesWithSchema(withField(wire, field, value))
          agreesWithSchema({ ...wire, events: [value] })
          agreesWithSchema(value)
        },
      ),
      { numRuns: 500 },
    )
  })
})
