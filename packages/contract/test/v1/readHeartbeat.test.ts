import { assert, describe, it } from "@effect/vitest"
import { propertyRuns } from "@tocsin/testing/propertyRuns"
import { Result, SchemaParser } from "effect"
import * as fc from "fast-check"
import { HeartbeatRequest } from "../../src/v1/Requests.ts"
import { readHeartbeat } from "../../src/v1/decodeRequest.ts"
import * as arbitraries from "./arbitraries.ts"

const decode = SchemaParser.decodeUnknownResult(HeartbeatRequest)

const agreesWithSchema = (body: unknown): boolean => {
  const bySchema = decode(body)
  assert.deepStrictEqual(readHeartbeat(body), Result.isSuccess(bySchema) ? bySchema.success : undefined)
  return Result.isSuccess(bySchema)
}

// As JSON.parse does it: __proto__ becomes an own property.
const object = (entries: ReadonlyArray<readonly [string, unknown]>): unknown => Object.fromEntries(entries)

const manyLabels = (count: number) =>
  object(Array.from({ length: count }, (_, index) => [`label-${index}`, "value"]))

const values = fc.oneof(
  fc.constantFrom<unknown>(
    null,
    undefined,
    0,
    1.5,
    NaN,
    true,
    "",
    "x",
    [],
    ["x"],
    {},
    manyLabels(32),
    manyLabels(33),
  ),
  fc.constantFrom<unknown>("2024-02-29T00:00:00Z", "2023-02-29T00:00:00Z", "2026-01-31t08:30:00+00:00"),
  fc.constantFrom<unknown>(
    "a\0",
    "\ud800",
    "x".repeat(128),
    "x".repeat(129),
    "😀".repeat(253),
    "😀".repeat(254),
  ),
  fc.constantFrom<unknown>({ push: true, metrics: false }, { push: true }, { push: 1, metrics: true }),
  fc.constantFrom<unknown>({ push: true, metrics: true, logs: true }, { push: true, metrics: undefined }),
  fc
    .tuple(
      fc.oneof(
        arbitraries.anyText(8),
        fc.constantFrom("db.password", "apiKey", "compass", "__proto__", "x".repeat(65)),
      ),
      fc.oneof(arbitraries.anyText(8), fc.constantFrom<unknown>(1, null, "x".repeat(256), "x".repeat(257))),
    )
    .map((entry) => object([entry])),
  fc.jsonValue({ maxDepth: 2 }),
)

const FIELDS = [
  "agent_id", "observed_at", "hostname", "features", "labels", "colour", "__proto__", "constructor",
] // oxfmt-ignore

describe("readHeartbeat", () => {
  it("reads every valid heartbeat as the schema does", () => {
    fc.assert(
      fc.property(arbitraries.heartbeatWire, (wire) => {
        assert.isTrue(agreesWithSchema(wire))
      }),
    )
  })

  it("agrees with the schema on heartbeats with one field wrong, added or removed", () => {
    let valid = 0
    let invalid = 0
    fc.assert(
      fc.property(
        arbitraries.heartbeatWire,
        fc.constantFrom(...FIELDS),
        fc.option(values, { nil: "take it away" }),
        (wire, field, value) => {
          const rest = Object.entries(wire).filter(([name]) => name !== field)
          const body = object(value === "take it away" ? rest : [...rest, [field, value]])
          if (agreesWithSchema(body)) valid++
          else invalid++
        },
      ),
      { numRuns: Math.max(1_000, propertyRuns(5_000)) },
    )
    assert.isAbove(valid, 20)
    assert.isAbove(invalid, 20)
  })

  it("agrees with the schema on values that are not heartbeats", () => {
    fc.assert(
      fc.property(values, (value) => {
        agreesWithSchema(value)
      }),
    )
  })
})
