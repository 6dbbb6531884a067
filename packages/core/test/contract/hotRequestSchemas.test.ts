import { assert, describe, it } from "@effect/vitest"
import { Result, type Schema, SchemaParser } from "effect"
import * as SchemaJITCompiler from "effect/schema/SchemaJITCompiler"
import * as fc from "fast-check"
import { hotRequestSchemas } from "../../src/contract/decodeRequest.ts"
import { describeIssue } from "../../src/contract/describeIssue.ts"
import { EventBatchRequest } from "../../src/contract/EventBatchRequest.ts"
import * as arbitraries from "./arbitraries.ts"
import { batch, event, heartbeat } from "./samples.ts"

const decoder = (schema: Schema.ConstraintDecoder<unknown>) => {
  const decode = SchemaParser.decodeUnknownResult(schema)
  return (input: unknown) => Result.mapError(decode(input), (issue) => describeIssue(issue, "the whole"))
}

const FIELDS = [
  ...Object.keys(
    event({ output: "", output_truncated: true, notifications_enabled: true, incident_key: "k" }),
  ),
  ...Object.keys(heartbeat({ labels: {} })),
  "colour",
]
const junk = fc.oneof(
  fc.jsonValue({ maxDepth: 2 }),
  arbitraries.anyText(10),
  fc.constantFrom("2024-02-29T00:00:00+00:00", "2023-02-29T00:00:00Z", "x".repeat(8193)),
  fc.constantFrom({ "db.password": "p" }, { a: "\0" }, { __proto__: null, constructor: "c" }, { push: true }),
)
const changed = (body: object) =>
  fc.tuple(fc.constantFrom(...FIELDS), junk).map(([field, value]) => ({ ...body, [field]: value }))

describe("a schema compiler", () => {
  it("decodes the hot requests as the interpreter does, and refuses the same with the same sentence", () => {
    const schemas = [...hotRequestSchemas, EventBatchRequest]
    const interpreted = schemas.map(decoder)
    // A decoder keeps the parsers of its first use: each field has to be met before the compiler is there.
    const full = event({
      output: "o",
      output_truncated: true,
      notifications_enabled: false,
      incident_key: "k",
    })
    for (const decode of interpreted) {
      decode(heartbeat({ labels: { a: "b" } }))
      decode(batch(full))
    }
    for (const schema of schemas) SchemaJITCompiler.enable(schema.ast)
    const compiled = schemas.map(decoder)
    let accepted = 0
    fc.assert(
      fc.property(
        fc.oneof(
          arbitraries.heartbeatWire,
          arbitraries.heartbeatWire.chain(changed),
          arbitraries.eventBatchWire(3),
          arbitraries.eventBatchWire(1).chain(changed),
          arbitraries.eventWire.chain(changed).map((wrong) => batch(event(), wrong)),
        ),
        (body) => {
          schemas.forEach((_, index) => {
            const result = compiled[index]?.(body)
            assert.deepStrictEqual(result, interpreted[index]?.(body))
            if (result !== undefined && Result.isSuccess(result)) accepted++
          })
        },
      ),
      { numRuns: 1_000 },
    )
    assert.isAbove(accepted, 300)
  })
})
