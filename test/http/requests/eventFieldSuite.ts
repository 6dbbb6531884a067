import { assert } from "@effect/vitest"
import { Effect } from "effect"
import type { StorageUnderTest } from "@tocsin/testing/StorageUnderTest"
import { call } from "../client/call.ts"
import { expectError } from "../client/expectError.ts"
import { itemsOf } from "../client/itemsOf.ts"
import { onStorage } from "../onStorage.ts"
import { acceptedAgent, event, newEventId, push, type TestAgent } from "../client/TestAgent.ts"
import { badTimestamps, goodTimestamps } from "./timestamps.ts"

const EMOJI = "\u{1f6a8}"
type Fields = Readonly<Record<string, unknown>>

/** A field that is accepted, and how it is shown where that differs. */
type Good = readonly [name: string, changes: Fields, shown?: Fields]

const MAX = Number.MAX_SAFE_INTEGER
const numbers: ReadonlyArray<Good> = [
  ...[0, 1, -1, 255, 256, 2 ** 31, -(2 ** 31) - 1, 3_221_225_786, MAX, -MAX].map((exit_code): Good => [
    `exit_code ${exit_code}`,
    { exit_code },
  ]),
  ...[0, 1, 2 ** 31, MAX].map((duration_ms): Good => [`duration_ms ${duration_ms}`, { duration_ms }]),
]

const outputs: ReadonlyArray<Good> = [
  ["empty output", { output: "" }],
  ["output of 8192 bytes", { output: "o".repeat(8192) }],
  ["output of 8192 bytes in characters of 2", { output: "\u00e9".repeat(4096) }],
  ["output of 8191 bytes in characters of 3", { output: "\u20ac".repeat(2730) + "x" }],
  ["output of 8192 bytes in characters of 4", { output: EMOJI.repeat(2048) }],
  [
    "output of 8192 bytes in lone surrogates",
    { output: `${"\ud800".repeat(2730)}xx` },
    { output: `${"\ufffd".repeat(2730)}xx` },
  ],
  ["output with line ends and controls", { output: "a\r\n\tb\u0001\u001b[0m\u007f\u2028" }],
  ["output with NUL", { output: "\u0000a\u0000b\u0000" }, { output: " a b " }],
  ["output with lone surrogates", { output: "a\ud800b\udc00" }, { output: "a\ufffdb\ufffd" }],
  ["output with surrogates in the wrong order", { output: "\udc00\ud800" }, { output: "\ufffd\ufffd" }],
  ["output that looks like JSON", { output: '{"a":"\\u0000"}' }],
]

const others: ReadonlyArray<Good> = [
  ["no output", { output: undefined }],
  ["output_truncated", { output_truncated: true }],
  ["output_truncated said to be false", { output_truncated: false }],
  ["notifications_enabled false", { notifications_enabled: false }],
  ["incident_key of 1 character", { incident_key: "k" }],
  ["incident_key of 256 characters", { incident_key: "k".repeat(256) }],
  ["incident_key of 256 characters beyond the BMP", { incident_key: EMOJI.repeat(256) }],
  ["incident_key with odd but plain characters", { incident_key: ' \u007f/\\"\u2028%00' }],
  ["check_id of 128 characters", { check_id: "c".repeat(128) }],
  ["check_id of every allowed character", { check_id: "AZaz09._:-" }],
  ["check_id __proto__", { check_id: "__proto__" }],
  ["check_id constructor", { check_id: "constructor" }],
  ["event_id with the largest digits", { event_id: "ffffffff-ffff-7fff-bfff-ffffffffffff" }],
  ["event_id with the smallest digits", { event_id: "00000000-0000-7000-8000-000000000000" }],
  ...["ok", "warning", "critical", "unknown"].map((status): Good => [`status ${status}`, { status }]),
]

type Bad = readonly [name: string, field: string, changes: Fields]
const notTexts = [null, 1, true, {}, []]
const notFlags = [null, 1, 0, "true", "", {}, []]
const show = (value: unknown): string => JSON.stringify(value).slice(0, 40)
const each = (field: string, values: ReadonlyArray<unknown>): ReadonlyArray<Bad> =>
  values.map((value) => [`${field} ${show(value)}`, field, { [field]: value }])

const good = newEventId()
const badEventIds = [
  good.replace("0190a", "0190A"),
  good.replaceAll("-", ""),
  good.slice(0, -1),
  `${good}0`,
  `${good}\n`,
  ` ${good.slice(1)}`,
  `{${good.slice(2)}}`,
  good.replace("-7", "-4"),
  good.replace("-7", "-1"),
  good.replace("-8", "-7"),
  good.replace("-8", "-c"),
  good.replace(/^0/, "g"),
  good.replace(/-/, "_"),
  "00000000-0000-0000-0000-000000000000",
  `urn:uuid:${good}`,
  "",
  ...notTexts,
]

const bad: ReadonlyArray<Bad> = [
  ...["event_id", "check_id", "observed_at", "status", "exit_code", "duration_ms"].map((field): Bad => [
    `no ${field}`,
    field,
    { [field]: undefined },
  ]),
  ...each("event_id", badEventIds),
  ...each("check_id", ["", "a b", "a/b", "caf\u00e9", "a\n", "a\u0000", "c".repeat(129), ...notTexts]),
  ...each("status", [
    "",
    "OK",
    "Ok",
    "ok ",
    "down",
    "pending",
    0,
    null,
    true,
    ["ok"],
    {},
    "__proto__",
    "constructor",
  ]),
  ...each("exit_code", [1.5, "1", "", null, true, [], {}, [1], 0.1]),
  ...each("duration_ms", [-1, 1.5, "1", null, true, [], {}, -MAX]),
  ...each("output", [
    "o".repeat(8193),
    `${"\u00e9".repeat(4096)}x`,
    "\u20ac".repeat(2731),
    `${EMOJI.repeat(2048)}x`,
  ]),
  ...each("output", [`${"\ud800".repeat(2730)}xxx`, "\u0000".repeat(8193), null, 1, true, {}, ["a"]]),
  ...each("output_truncated", notFlags),
  ...each("notifications_enabled", notFlags),
  ...each("incident_key", [
    "",
    "k".repeat(257),
    EMOJI.repeat(257),
    "a\u0000",
    "a\nb",
    "\u001f",
    "\ud800",
    ...notTexts,
  ]),
  ...["agent_id", "id", "eventId", "constructor", "received_at"].map((field): Bad => [
    `another field ${field}`,
    field,
    { [field]: "x" },
  ]),
]

/** Numbers in any JSON notation: only their value counts. */
const written: ReadonlyArray<readonly [field: string, text: string, value: number | undefined]> = [
  ["exit_code", "1.0", 1],
  ["exit_code", "1e3", 1000],
  ["exit_code", "-0", 0],
  ["exit_code", "10E-1", 1],
  ["exit_code", "9007199254740991.0", MAX],
  ["exit_code", "9007199254740992", undefined],
  ["exit_code", "-9007199254740992", undefined],
  ["exit_code", "9007199254740993", undefined],
  ["exit_code", "1e400", undefined],
  ["exit_code", "-1e400", undefined],
  ["exit_code", "1e-3", undefined],
  ["duration_ms", "0.0", 0],
  ["duration_ms", "-0", 0],
  ["duration_ms", "-1e-9", undefined],
  ["duration_ms", "1e22", undefined],
]

/** Each field of an event, just inside and just outside its rule (docs/rules.md#values). */
export const eventFieldSuite = <Place>(subject: StorageUnderTest<Place>): void => {
  const { together } = onStorage(subject)
  const stored = Effect.fnUntraced(function* ({ agent_id }: TestAgent) {
    return yield* itemsOf(`/api/v1/events/query?agent_id=${agent_id}`)
  })

  together("events", (it) => {
    it.effect.each([...numbers, ...outputs, ...others])("accepts %s, and returns it", ([, changes, shown]) =>
      Effect.gen(function* () {
        const agent = yield* acceptedAgent()
        const sent = event(changes)
        const answer = yield* push(agent, sent)
        assert.strictEqual(answer.status, 202, answer.text)
        const [row] = yield* stored(agent)
        const { received_at: _, ...found } = row ?? assert.fail("nothing was stored")
        assert.deepStrictEqual(found, {
          agent_id: agent.agent_id,
          output_truncated: false,
          notifications_enabled: true,
          ...JSON.parse(JSON.stringify(sent)),
          observed_at: "2026-03-01T12:00:00.000Z",
          ...shown,
        })
        const [check] = yield* itemsOf(`/api/v1/checks?agent_id=${agent.agent_id}`)
        const output = shown?.["output"] ?? changes["output"]
        assert.strictEqual(check?.["summary"], output)
      }),
    )

    it.effect.each(bad)("refuses %s, and names the event and the field", ([, field, changes]) =>
      Effect.gen(function* () {
        const agent = yield* acceptedAgent()
        const message = expectError(yield* push(agent, event(), event(), event(changes)), 400, "validation")
        assert.match(message, new RegExp(`^events\\[2\\]\\.${field} `))
        // All or nothing.
        assert.deepStrictEqual(yield* stored(agent), [])
      }),
    )

    it.effect.each(written)("%s written as %s", ([field, text, value]) =>
      Effect.gen(function* () {
        const agent = yield* acceptedAgent()
        const json = JSON.stringify({ agent_id: agent.agent_id, events: [event({ [field]: 4711 })] })
        const body = json.replace("4711", text)
        const answer = yield* call("POST", "/api/v1/events", { token: agent.key, body })
        if (value === undefined) return void expectError(answer, 400, "validation")
        assert.strictEqual(answer.status, 202, answer.text)
        assert.strictEqual((yield* stored(agent))[0]?.[field], value)
      }),
    )

    it.effect.each(goodTimestamps)("accepts observed_at %s, and returns %s", ([observed_at, shown]) =>
      Effect.gen(function* () {
        const agent = yield* acceptedAgent()
        assert.strictEqual((yield* push(agent, event({ observed_at }))).status, 202)
        assert.strictEqual((yield* stored(agent))[0]?.["observed_at"], shown)
        const [check] = yield* itemsOf(`/api/v1/checks?agent_id=${agent.agent_id}`)
        assert.strictEqual(check?.["last_observed_at"], shown)
      }),
    )

    it.effect("refuses every invalid observed_at", () =>
      Effect.gen(function* () {
        const agent = yield* acceptedAgent()
        for (const observed_at of badTimestamps) {
          const message = expectError(
            yield* push(agent, event({ observed_at })),
            400,
            "validation",
            String(observed_at),
          )
          assert.match(message, /^events\[0\]\.observed_at must be /)
        }
      }),
    )

    it.effect("a batch holds 1 to 200 events", () =>
      Effect.gen(function* () {
        const agent = yield* acceptedAgent()
        const events = Array.from({ length: 201 }, (_, index) => event({ check_id: `check-${index}` }))
        for (const refused of [[], events, Array.from({ length: 10_000 }, () => 1)]) {
          const json = { agent_id: agent.agent_id, events: refused }
          const answer = yield* call("POST", "/api/v1/events", { token: agent.key, json })
          assert.match(expectError(answer, 400, "validation"), /^events must contain 1 to 200 events/)
        }
        assert.deepStrictEqual((yield* push(agent, ...events.slice(0, 200))).body, {
          accepted: 200,
          deduplicated: 0,
        })
      }),
    )

    it.effect("a batch has exactly agent_id and events", () =>
      Effect.gen(function* () {
        const { agent_id, key } = yield* acceptedAgent()
        const events = [event()]
        for (const [field, json] of [
          ["agent_id", { events }],
          ["agent_id", { agent_id: "", events }],
          ["agent_id", { agent_id: "a".repeat(129), events }],
          ["agent_id", { agent_id: 1, events }],
          ["events", { agent_id }],
          ["events", { agent_id, events: null }],
          ["events", { agent_id, events: {} }],
          ["events", { agent_id, events: { 0: event(), length: 1 } }],
          ["events", { agent_id, events: "[]" }],
          ["events\\[0\\]", { agent_id, events: [null] }],
          ["events\\[1\\]", { agent_id, events: [event(), "x"] }],
          ["events\\[0\\]", { agent_id, events: [[event()]] }],
          ["hostname", { agent_id, events, hostname: "h" }],
          ["constructor", { agent_id, events, constructor: "h" }],
          ["the request body", null],
          ["the request body", events],
          ["the request body", "x"],
        ] as const) {
          const answer = yield* call("POST", "/api/v1/events", { token: key, body: JSON.stringify(json) })
          assert.match(expectError(answer, 400, "validation"), new RegExp(`^${field} `))
        }
      }),
    )
  })
}
