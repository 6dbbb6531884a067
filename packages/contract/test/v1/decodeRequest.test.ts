import { assert, describe, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import * as fc from "fast-check"
import { decodeEventBatchRequest, decodeHeartbeatRequest } from "../../src/v1/decodeRequest.ts"
import { EventBatchRequest, HeartbeatRequest } from "../../src/v1/Requests.ts"
import * as Instant from "../../src/formats/Instant.ts"
import * as arbitraries from "./arbitraries.ts"
import { batch, event, heartbeat, nested, verdict, without } from "./samples.ts"

const TIMESTAMP_RULE = "must be an RFC 3339 date-time in UTC, such as 2026-01-31T08:30:00Z"
const NAME_RULE = "must be 1 to 128 letters, digits or the characters . _ : -"

const heartbeatVerdict = (body: unknown) => verdict(decodeHeartbeatRequest(body))
const batchVerdict = (body: unknown) => verdict(decodeEventBatchRequest(body))
const eventVerdict = (changes: Readonly<Record<string, unknown>>) =>
  batchVerdict(batch(event(), event(), event(), event(changes)))

describe("decodeHeartbeatRequest", () => {
  it("gives every valid request its decoded form", () => {
    fc.assert(
      fc.property(arbitraries.heartbeatWire, (wire) => {
        const decoded = Result.getOrThrow(decodeHeartbeatRequest(JSON.parse(JSON.stringify(wire))))
        assert.strictEqual(Instant.format(decoded.observed_at), wire.observed_at)
        assert.deepStrictEqual(Schema.encodeSync(HeartbeatRequest)(decoded), wire)
      }),
    )
  })

  it("reads what a client wrote", () => {
    fc.assert(
      fc.property(arbitraries.heartbeatRequest, (request) => {
        const wire: unknown = JSON.parse(JSON.stringify(Schema.encodeSync(HeartbeatRequest)(request)))
        assert.deepStrictEqual(decodeHeartbeatRequest(wire), Result.succeed(request))
      }),
    )
  })

  it("leaves absent labels absent", () => {
    const decoded = Result.getOrThrow(decodeHeartbeatRequest(heartbeat()))
    assert.deepStrictEqual(Object.keys(decoded).toSorted(), [
      "agent_id",
      "features",
      "hostname",
      "observed_at",
    ])
  })

  it.each(["agent_id", "observed_at", "hostname", "features"])("names %s when it is missing", (field) => {
    assert.strictEqual(heartbeatVerdict(without(heartbeat(), field)), `${field} is missing`)
  })

  it.each([
    [{ colour: 1 }, "colour is not a known field"],
    [{ Hostname: "h" }, "Hostname is not a known field"],
    [{ features: { push: true, metrics: true, logs: true } }, "features.logs is not a known field"],
    [{ features: { push: true } }, "features.metrics is missing"],
    [{ features: { push: "true", metrics: true } }, "features.push must be true or false"],
    [{ features: null }, "features must be an object"],
    [{ agent_id: "" }, `agent_id ${NAME_RULE}`],
    [{ agent_id: 7 }, `agent_id ${NAME_RULE}`],
    [{ observed_at: "2026-01-31T08:30:00+01:00" }, `observed_at ${TIMESTAMP_RULE}`],
    [{ observed_at: 1_769_848_200 }, `observed_at ${TIMESTAMP_RULE}`],
    [{ hostname: "" }, "hostname must be a string of 1 to 253 characters without control characters"],
    [{ hostname: "a\0" }, "hostname must be a string of 1 to 253 characters without control characters"],
  ])("refuses %j", (changes, sentence) => {
    assert.strictEqual(heartbeatVerdict(heartbeat(changes)), sentence)
  })

  it.each([null, [], "text", 5, true])("refuses the body %j", (body) => {
    assert.strictEqual(heartbeatVerdict(body), "the request body must be an object")
  })

  it("refuses a field __proto__, which JSON.parse makes an own property", () => {
    const body: unknown = JSON.parse(
      JSON.stringify(heartbeat()).replace("{", '{"__proto__":{"agent_id":"x"},'),
    )
    assert.strictEqual(heartbeatVerdict(body), "__proto__ is not a known field")
  })
})

describe("decodeEventBatchRequest", () => {
  it("gives every valid batch its decoded form, with the defaults filled in", () => {
    fc.assert(
      fc.property(arbitraries.eventBatchWire(4), (wire) => {
        const decoded = Result.getOrThrow(decodeEventBatchRequest(JSON.parse(JSON.stringify(wire))))
        decoded.events.forEach((decodedEvent, index) => {
          const sent = wire.events[index]
          assert.strictEqual(decodedEvent.output_truncated, sent?.output_truncated ?? false)
          assert.strictEqual(decodedEvent.notifications_enabled, sent?.notifications_enabled ?? true)
          assert.strictEqual("output" in decodedEvent, sent?.output !== undefined)
          assert.strictEqual("incident_key" in decodedEvent, sent?.incident_key !== undefined)
        })
        assert.deepStrictEqual(
          Result.getOrThrow(decodeEventBatchRequest(Schema.encodeSync(EventBatchRequest)(decoded))),
          decoded,
        )
      }),
    )
  })

  it("takes 1 to 200 events", () => {
    const of = (count: number) => batchVerdict(batch(...Array.from({ length: count }, () => event())))
    assert.strictEqual(of(1), "accepted")
    assert.strictEqual(of(200), "accepted")
    assert.strictEqual(of(0), "events must contain 1 to 200 events")
    assert.strictEqual(of(201), "events must contain 1 to 200 events")
    assert.strictEqual(
      batchVerdict({ agent_id: "a", events: {} }),
      "events must be an array of 1 to 200 events",
    )
  })

  it.each(["event_id", "check_id", "observed_at", "status", "exit_code", "duration_ms"])(
    "names %s when it is missing",
    (field) => {
      assert.strictEqual(
        batchVerdict(batch(event(), without(event(), field))),
        `events[1].${field} is missing`,
      )
    },
  )

  it.each(["agent_id", "events"])("names %s when it is missing", (field) => {
    assert.strictEqual(batchVerdict(without(batch(event()), field)), `${field} is missing`)
  })

  it.each<readonly [what: string, changes: Readonly<Record<string, unknown>>]>([
    ["the largest integers", { exit_code: Number.MAX_SAFE_INTEGER, duration_ms: Number.MAX_SAFE_INTEGER }],
    ["the smallest integers", { exit_code: Number.MIN_SAFE_INTEGER, duration_ms: 0 }],
    ["an exit code of Windows", { exit_code: 3_221_225_477 }],
    ["names of prototypes", { check_id: "__proto__", incident_key: "constructor" }],
    ["an incident_key of 256 characters", { incident_key: "x".repeat(256) }],
    ["an output of 8192 bytes", { output: "x".repeat(8192) }],
    ["an empty output", { output: "" }],
    ["the flags turned round", { output_truncated: true, notifications_enabled: false }],
  ])("accepts %s", (_, changes) => {
    assert.strictEqual(eventVerdict(changes), "accepted")
  })

  it("takes 1.0 for an integer", () => {
    const body: unknown = JSON.parse(
      JSON.stringify(batch(event())).replace('"exit_code":0', '"exit_code":1.0'),
    )
    assert.strictEqual(batchVerdict(body), "accepted")
  })

  const rules: ReadonlyArray<readonly [field: string, rule: string, values: ReadonlyArray<unknown>]> = [
    ["exit_code", "must be an integer", [1.5, "1", null, 2 ** 53, -(2 ** 53), Infinity, NaN, [], true]],
    ["duration_ms", "must be an integer of at least 0", [-1, 0.5, "1", null, 2 ** 53]],
    ["status", "must be one of ok, warning, critical, unknown", ["OK", "", null, 0, {}]],
    ["event_id", "must be a lower-case UUID version 7 with dashes (36 characters)", ["", "x", null, 7]],
    ["check_id", NAME_RULE, ["", "a b", "x".repeat(129), null]],
    ["observed_at", TIMESTAMP_RULE, ["", "2026-02-30T00:00:00Z", "2026-01-31T08:30:00-00:00", null, 0]],
    [
      "output",
      "must be a string of at most 8192 bytes of UTF-8",
      ["x".repeat(8193), "ä".repeat(4097), null, 1],
    ],
    ["output_truncated", "must be true or false", ["true", null, 0]],
    ["notifications_enabled", "must be true or false", ["false", null, 1]],
    [
      "incident_key",
      "must be a string of 1 to 256 characters without control characters",
      ["", "x".repeat(257), "a\n", "\ud800", null],
    ],
    ["agent_id", "is not a known field", ["web-01"]],
    ["received_at", "is not a known field", ["2026-01-31T08:30:00Z"]],
  ]
  it.each(rules)("says of %s that it %s", (field, rule, values) => {
    for (const value of values)
      assert.strictEqual(eventVerdict({ [field]: value }), `events[3].${field} ${rule}`)
  })

  it("refuses unknown fields of the batch", () => {
    assert.strictEqual(batchVerdict({ ...batch(event()), colour: 1 }), "colour is not a known field")
  })

  it("names the first of several bad events", () => {
    assert.strictEqual(
      batchVerdict(batch(event(), event({ status: "bad" }), event({ exit_code: "bad" }))),
      "events[1].status must be one of ok, warning, critical, unknown",
    )
  })
})

describe("a hostile body", () => {
  const deep = nested(100_000)
  const secret = "hunter2-hunter2-hunter2"

  it.each(["agent_id", "observed_at", "hostname", "features", "labels", "colour"])(
    "nested 100,000 deep in %s is refused",
    (field) => {
      assert.match(
        heartbeatVerdict(heartbeat({ [field]: deep })),
        new RegExp(`^${field} (must be|is not a known)`),
      )
    },
  )

  it("nested 100,000 deep elsewhere is refused", () => {
    assert.strictEqual(heartbeatVerdict(deep), "the request body must be an object")
    assert.match(heartbeatVerdict(heartbeat({ labels: { a: deep } })), /^labels\.a must be/)
    assert.match(
      heartbeatVerdict(heartbeat({ features: { push: deep, metrics: true } })),
      /^features\.push must be/,
    )
    assert.strictEqual(batchVerdict(batch(deep)), "events[0] must be an object")
    assert.match(batchVerdict({ agent_id: "a", events: deep }), /^events\[0\] must be an object/)
    for (const field of [...Object.keys(event()), "output", "incident_key", "colour"]) {
      assert.match(
        eventVerdict({ [field]: deep }),
        new RegExp(`^events\\[3\\]\\.${field} (must be|is not a known)`),
      )
    }
  })

  it("has its values repeated nowhere", () => {
    for (const field of ["agent_id", "observed_at", "hostname", "features", "labels", "colour"]) {
      for (const value of [`${secret} \0`, [secret], { [`${secret} `]: secret }, { a: [secret] }]) {
        const sentence = heartbeatVerdict(heartbeat({ [field]: value }))
        assert.notStrictEqual(sentence, "accepted")
        assert.isFalse(sentence.replace(/\["[^"]*"\]/u, "").includes(secret), sentence)
      }
    }
    for (const key of ["api_key", "secret", "x-auth", "a.token"]) {
      assert.notInclude(heartbeatVerdict(heartbeat({ labels: { [key]: secret } })), secret)
      assert.notInclude(heartbeatVerdict(heartbeat({ labels: { [key]: [secret] } })), secret)
    }
  })

  it("has its field names cut to 64 characters, and cleaned", () => {
    const long = "x".repeat(1_000_000)
    assert.strictEqual(
      heartbeatVerdict(heartbeat({ [long]: 1 })),
      `"${"x".repeat(64)}…" is not a known field`,
    )
    assert.strictEqual(
      heartbeatVerdict(heartbeat({ ["x".repeat(64)]: 1 })),
      `${"x".repeat(64)} is not a known field`,
    )
    assert.strictEqual(
      heartbeatVerdict(heartbeat({ ["😀".repeat(65)]: 1 })),
      `"${"😀".repeat(64)}…" is not a known field`,
    )
    assert.strictEqual(
      heartbeatVerdict(heartbeat({ 'a\0\r\n\u001b[31m\u202e\ud800"\\\u2028z': 1 })),
      '"a????[31m??????z" is not a known field'.replace("??????", "?????"),
    )
    assert.strictEqual(heartbeatVerdict(heartbeat({ "": 1 })), '"" is not a known field')
    assert.strictEqual(
      heartbeatVerdict(heartbeat({ features: { push: true, metrics: true, "a b": 1 } })),
      'features["a b"] is not a known field',
    )
  })

  it("is answered with one line, whatever it is", () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 4 }), fc.jsonValue({ maxDepth: 3 }), (whole, part) => {
        for (const sentence of [
          heartbeatVerdict(whole),
          batchVerdict(whole),
          heartbeatVerdict(heartbeat({ labels: part })),
          heartbeatVerdict(heartbeat({ features: part })),
          batchVerdict(batch(part)),
        ]) {
          assert.match(sentence, /^[^\p{C}\p{Zl}\p{Zp}]{1,250}$/u)
        }
      }),
    )
  })
})
