import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import * as fc from "fast-check"
import { decodeHeartbeatRequest } from "../../src/v1/decodeRequest.ts"
import { isLabels, Labels } from "../../src/labels/Labels.ts"
import * as arbitraries from "../v1/arbitraries.ts"
import { heartbeat, verdict } from "../v1/samples.ts"

const decode = Schema.decodeUnknownSync(Labels)
const encode = Schema.encodeSync(Labels)
const refusal = (labels: unknown) => verdict(decodeHeartbeatRequest(heartbeat({ labels })))
const entries = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`key${index}`, "value"]))

const KEY_RULE = "must have a key of 1 to 64 letters, digits or the characters . _ : -"
const VALUE_RULE = "must be a string of at most 256 characters without control characters"

describe("Labels", () => {
  it("come back as they were, through JSON too", () => {
    fc.assert(
      fc.property(arbitraries.labels, (labels) => {
        const decoded = decode(JSON.parse(JSON.stringify(labels)))
        assert.deepStrictEqual(Object.entries(decoded).toSorted(), Object.entries(labels).toSorted())
        assert.strictEqual(JSON.stringify(encode(decoded)), JSON.stringify(decoded))
      }),
    )
  })

  it("hold __proto__ and constructor as own properties, and touch no prototype", () => {
    const text = '{"__proto__":"a","constructor":"b","toString":"c"}'
    const decoded = decode(JSON.parse(text))
    assert.deepStrictEqual(Object.keys(decoded), ["__proto__", "constructor", "toString"])
    assert.strictEqual(Object.getOwnPropertyDescriptor(decoded, "__proto__")?.value, "a")
    assert.strictEqual(Object.getPrototypeOf(decoded), Object.prototype)
    assert.strictEqual(JSON.stringify(encode(decoded)), text)
    assert.isFalse(Object.hasOwn(Object.prototype, "a"))
  })

  it("are at most 32", () => {
    assert.strictEqual(refusal(entries(32)), "accepted")
    assert.strictEqual(refusal({}), "accepted")
    assert.strictEqual(refusal(entries(33)), "labels must contain at most 32 entries")
    assert.strictEqual(Object.keys(decode(entries(32))).length, 32)
    assert.throws(() => decode(entries(33)), "must contain at most 32 entries")
  })

  it("have keys of 1 to 64 characters of the common pattern", () => {
    assert.strictEqual(refusal({ ["k".repeat(64)]: "" }), "accepted")
    assert.strictEqual(refusal({ "A.b_c:d-9": "" }), "accepted")
    assert.strictEqual(refusal({ ["k".repeat(65)]: "" }), `labels["${"k".repeat(64)}…"] ${KEY_RULE}`)
    assert.strictEqual(refusal({ "": "" }), `labels[""] ${KEY_RULE}`)
    assert.strictEqual(refusal({ "a b": "" }), `labels["a b"] ${KEY_RULE}`)
    assert.strictEqual(refusal({ größe: "" }), `labels["größe"] ${KEY_RULE}`)
  })

  it("have values of at most 256 code points", () => {
    assert.strictEqual(refusal({ a: "" }), "accepted")
    assert.strictEqual(refusal({ a: "x".repeat(256) }), "accepted")
    assert.strictEqual(refusal({ a: "😀".repeat(256) }), "accepted")
    assert.strictEqual(refusal({ a: "x".repeat(257) }), `labels.a ${VALUE_RULE}`)
    assert.strictEqual(refusal({ a: "😀".repeat(257) }), `labels.a ${VALUE_RULE}`)
  })

  it.each(["\0", "\t", "\n", "\u001f", "\ud800", "\udc00", "\udc00\ud800"])(
    "refuse the character %j in a value, wherever it stands",
    (character) => {
      for (const value of [character, `a${character}`, `${character}b`, `a${character}b`]) {
        assert.strictEqual(refusal({ a: value }), `labels.a ${VALUE_RULE}`)
      }
    },
  )

  it("accept every character of a value except C0 controls", () => {
    assert.strictEqual(refusal({ a: "\u007f\u0085\u2028\ufffe 😀" }), "accepted")
  })

  it("are counted before one of them is looked at", () => {
    let looks = 0
    const watched = new Proxy(entries(1_000), {
      get: (target, key) => {
        looks += 1
        return Reflect.get(target, key)
      },
    })
    assert.isFalse(isLabels(watched))
    assert.strictEqual(looks, 0)
  })

  it.each([null, [], "a", 1, true])("are an object, not %j", (labels) => {
    assert.strictEqual(refusal(labels), "labels must be an object with string values")
  })

  it.each([null, [], {}, 1, true])("have texts as values, not %j", (value) => {
    assert.strictEqual(refusal({ a: value }), `labels.a ${VALUE_RULE}`)
  })

  it("refuse secret-like keys without repeating the value", () => {
    assert.strictEqual(
      refusal({ env: "prod", "db.password": "hunter2" }),
      'labels["db.password"] has a key that looks like a secret: remove the label or rename it',
    )
    assert.strictEqual(refusal({ service_agent_version: "1.2.3" }), "accepted")
  })
})
