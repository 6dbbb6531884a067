import { assert } from "@effect/vitest"
import { Effect } from "effect"
import type { StorageUnderTest } from "@tocsin/testing/StorageUnderTest"
import { call, operate } from "../client/call.ts"
import { expectError } from "../client/expectError.ts"
import { itemsOf } from "../client/itemsOf.ts"
import { onStorage } from "../onStorage.ts"
import {
  acceptedAgent,
  agentPath,
  event,
  heartbeatBody,
  newAgent,
  type TestAgent,
} from "../client/TestAgent.ts"

const DEPTH = 100_000
const nested = {
  arrays: "[".repeat(DEPTH) + "]".repeat(DEPTH),
  objects: '{"a":'.repeat(DEPTH) + "1" + "}".repeat(DEPTH),
  "arrays without end": "[".repeat(1_000_000),
  "objects without end": '{"a":'.repeat(200_000),
}

const bytes = (...values: ReadonlyArray<number>): Uint8Array => Uint8Array.from(values)

/** A heartbeat whose hostname holds these bytes. */
const withBytes = (agent: TestAgent, ...values: ReadonlyArray<number>): Uint8Array => {
  const [before = "", after = ""] = JSON.stringify(heartbeatBody(agent, { hostname: "<>" })).split("<>")
  return Buffer.concat([Buffer.from(before), bytes(...values), Buffer.from(after)])
}

const invalidUtf8: ReadonlyArray<readonly [name: string, values: ReadonlyArray<number>]> = [
  ["a byte that never occurs", [0xff]],
  ["a continuation on its own", [0x80]],
  ["a start without its continuation", [0xc3]],
  ["a character cut short", [0xe2, 0x82]],
  ["an overlong slash", [0xc0, 0xaf]],
  ["an overlong NUL", [0xc0, 0x80]],
  ["a surrogate", [0xed, 0xa0, 0x80]],
  ["a pair of surrogates", [0xed, 0xa0, 0xbd, 0xed, 0xb2, 0xa9]],
  ["a character beyond the last", [0xf4, 0x90, 0x80, 0x80]],
  ["Latin-1", [0x63, 0x61, 0x66, 0xe9]],
]

const noJson = [
  "",
  " ",
  "\n",
  "{",
  "{}}",
  "{} {}",
  "{'a':1}",
  "{a:1}",
  '{"a":1,}',
  "[1,]",
  "// a\n{}",
  "NaN",
  "Infinity",
  "undefined",
  "01",
  "+1",
  ".5",
  "0x1",
  '"\u0001"',
  '"a',
  '"\\x41"',
  '"\\u12"',
  "\u0000",
  "{}\u0000",
  "<xml/>",
  "agent_id=a&hostname=b",
]

/** Malformed and misleading bodies (docs/rules.md#bodies, docs/rules.md#numbers-and-text). */
export const hostileBodySuite = <Place>(subject: StorageUnderTest<Place>): void => {
  const { together } = onStorage(subject)
  const send = (agent: TestAgent, body: string | Uint8Array, endpoint = "heartbeat") =>
    call("POST", `/api/v1/${endpoint}`, { token: agent.key, body })

  together("bodies", (it) => {
    it.effect.each(Object.entries(nested))("nested deep in %s", ([, text]) =>
      Effect.gen(function* () {
        const agent = yield* acceptedAgent()
        const { agent_id } = agent
        const start = JSON.stringify(heartbeatBody(agent)).slice(0, -1)
        for (const [endpoint, body] of [
          ["heartbeat", text],
          ["heartbeat", `${start},"labels":${text}}`],
          ["heartbeat", `${start},"labels":{"a":${text}}}`],
          ["heartbeat", `${start},"other":${text}}`],
          ["events", text],
          ["events", `{"agent_id":"${agent_id}","events":${text}}`],
          ["events", `{"agent_id":"${agent_id}","events":[${text}]}`],
          ["events", `{"agent_id":"${agent_id}","events":[{"output":${text}}]}`],
        ] as const) {
          if (body.length > 1_048_576) continue
          expectError(yield* send(agent, body, endpoint), 400, "validation")
        }
        assert.deepStrictEqual(yield* itemsOf(`/api/v1/checks?agent_id=${agent_id}`), [])
        // Where a body is ignored, its depth is too.
        assert.strictEqual(
          (yield* operate("POST", "/api/v1/agents/admission/accept-all", { body: text })).status,
          200,
        )
      }),
    )

    it.effect.each(invalidUtf8)("UTF-8 with %s is refused, not repaired", ([, values]) =>
      Effect.gen(function* () {
        const agent = newAgent()
        expectError(yield* send(agent, withBytes(agent, ...values)), 400, "validation")
        expectError(yield* operate("GET", agentPath(agent)), 404, "not_found")
      }),
    )

    it.effect("valid UTF-8 is kept to the last byte", () =>
      Effect.gen(function* () {
        const agent = newAgent()
        const text = "\u00e9\u20ac\u{1f6a8}\u{10ffff}\ufffd"
        assert.strictEqual((yield* send(agent, withBytes(agent, ...Buffer.from(text)))).status, 202)
        assert.deepInclude((yield* operate("GET", agentPath(agent))).body, { hostname: text })
      }),
    )

    it.effect.each(noJson)("%j is invalid JSON", (body) =>
      Effect.gen(function* () {
        for (const endpoint of ["heartbeat", "events"]) {
          const message = expectError(yield* send(newAgent(), body, endpoint), 400, "validation")
          assert.match(message, /^the request body must be valid JSON/)
        }
      }),
    )

    it.effect("UTF-16 and UTF-32 are refused", () =>
      Effect.gen(function* () {
        const agent = newAgent()
        const json = JSON.stringify(heartbeatBody(agent))
        const little = Buffer.from(json, "utf16le")
        const big = Buffer.from(little).swap16()
        for (const body of [
          little,
          big,
          Buffer.concat([bytes(0xff, 0xfe), little]),
          Buffer.concat([bytes(0xfe, 0xff), big]),
        ]) {
          expectError(yield* send(agent, body), 400, "validation")
        }
      }),
    )

    it.effect("a byte order mark is accepted before the JSON and nowhere else", () =>
      Effect.gen(function* () {
        const agent = newAgent()
        const json = JSON.stringify(heartbeatBody(agent))
        const { status } = yield* send(agent, `\ufeff${json}`)
        assert.include([202, 400], status)
        expectError(yield* send(agent, `\ufeff\ufeff${json}`), 400, "validation")
        expectError(yield* send(agent, `${json}\ufeff`), 400, "validation")
      }),
    )

    it.effect("the last of duplicate keys counts", () =>
      Effect.gen(function* () {
        const agent = newAgent()
        const { agent_id } = agent
        const rest = `"observed_at":"2026-03-01T12:00:00Z","features":{"push":true,"metrics":0,"metrics":false}`
        const labels = `"labels":{"a":1,"a":"first","a":"last","__proto__":"x","__proto__":"y"}`
        const right = `{"hostname":1,"agent_id":"other","agent_id":"${agent_id}",${rest},${labels},"hostname":"last"}`
        assert.strictEqual((yield* send(agent, right)).status, 202)
        const { body } = yield* operate("GET", agentPath(agent))
        assert.deepInclude(body, { agent_id, hostname: "last", features: { push: true, metrics: false } })
        assert.deepNestedInclude(body, { "labels.a": "last" })
        expectError(yield* operate("GET", "/api/v1/agents/other"), 404, "not_found")
        const wrong = right.replace('"hostname":"last"', '"hostname":"last","hostname":2')
        expectError(yield* send(agent, wrong), 400, "validation")
        const twice = `{"agent_id":"${agent_id}","events":[${JSON.stringify(event())}],"events":[]}`
        expectError(yield* send(agent, twice, "events"), 400, "validation")
      }),
    )

    it.effect("keys such as __proto__ change no prototype", () =>
      Effect.gen(function* () {
        const agent = yield* acceptedAgent()
        const whole = heartbeatBody(agent)
        const { agent_id: _, ...withoutId } = whole
        for (const body of [
          `{"__proto__":${JSON.stringify(whole)}}`,
          `{"__proto__":{"agent_id":"${agent.agent_id}"},${JSON.stringify(withoutId).slice(1)}`,
          `${JSON.stringify(whole).slice(0, -1)},"__proto__":{"polluted":true}}`,
          `${JSON.stringify(whole).slice(0, -1)},"constructor":{"prototype":{"polluted":true}}}`,
          `${JSON.stringify({ ...whole, features: {} }).replace("{}", '{"__proto__":{"push":true,"metrics":true}}')}`,
          `${JSON.stringify({ ...whole, labels: 0 }).replace(":0", ':{"__proto__":{"polluted":"x"}}')}`,
        ]) {
          expectError(yield* send(agent, body), 400, "validation")
        }
        const batch = JSON.stringify({ agent_id: agent.agent_id, events: [event()] })
        for (const body of [
          batch.replace('"event_id"', '"__proto__":{"incident_key":"x"},"event_id"'),
          batch.replace('"events":[', '"__proto__":[],"events":['),
        ]) {
          expectError(yield* send(agent, body, "events"), 400, "validation")
        }
        assert.notProperty({}, "polluted")
      }),
    )

    it.effect("any Content-Type is accepted, and only some encodings", () =>
      Effect.gen(function* () {
        const agent = newAgent()
        const body = JSON.stringify(heartbeatBody(agent))
        const heartbeat = (headers: Record<string, string>) =>
          call("POST", "/api/v1/heartbeat", { token: agent.key, body, headers })
        for (const type of [
          "text/plain",
          "application/xml; charset=utf-16",
          "multipart/form-data",
          "nonsense",
          "",
        ]) {
          assert.strictEqual((yield* heartbeat({ "content-type": type })).status, 202, type)
        }
        for (const encoding of ["identity", "Identity", "IDENTITY"]) {
          assert.strictEqual((yield* heartbeat({ "content-encoding": encoding })).status, 202, encoding)
        }
        for (const encoding of ["gzip", "x-gzip", "br", "deflate", "zstd", "gzip, identity", "unknown"]) {
          expectError(yield* heartbeat({ "content-encoding": encoding }), 400, "validation", encoding)
        }
      }),
    )
  })
}
