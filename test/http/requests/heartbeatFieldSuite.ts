import { assert, describe } from "@effect/vitest"
import { Effect } from "effect"
import type { StorageUnderTest } from "@tocsin/testing/StorageUnderTest"
import { call, operate } from "../client/call.ts"
import { expectError } from "../client/expectError.ts"
import { onStorage } from "../onStorage.ts"
import { agentPath, heartbeat, heartbeatBody, newAgent } from "../client/TestAgent.ts"
import { badTimestamps, goodTimestamps } from "./timestamps.ts"

const EMOJI = "\u{1f6a8}"

const labelsOf = (count: number): Record<string, string> =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`label-${index}`, "x"]))

/** A field that is accepted, and shown as it was sent. */
type Good = readonly [name: string, changes: Readonly<Record<string, unknown>>]

const good: ReadonlyArray<Good> = [
  ["hostname of 1 character", { hostname: "h" }],
  ["hostname of 253 characters", { hostname: "h".repeat(253) }],
  ["hostname of 253 characters beyond the BMP", { hostname: EMOJI.repeat(253) }],
  ["hostname with odd but plain characters", { hostname: ' \u007f\u0080\u2028\ufeff\uffff"\\/<>&' }],
  ["no labels", { labels: {} }],
  ["32 labels", { labels: labelsOf(32) }],
  ["label key of 64 characters", { labels: { ["k".repeat(64)]: "x" } }],
  ["label key of every allowed character", { labels: { "AZaz09._:-": "x" } }],
  ["label value of 256 characters", { labels: { key: "v".repeat(256) } }],
  ["label value of 256 characters beyond the BMP", { labels: { key: EMOJI.repeat(256) } }],
  ["empty label value", { labels: { key: "" } }],
  ["the label of agents", { labels: { service_agent_version: "1.2.3" } }],
  [
    "label keys that only resemble secrets",
    { labels: { compass: "n", author: "a", passage: "p", authority: "x" } },
  ],
  [
    "labels that are words of the language",
    { labels: JSON.parse('{"__proto__":"a","constructor":"b","toString":"c"}') },
  ],
  ["features the other way round", { features: { push: false, metrics: true } }],
]

/** A faulty field: the path of the field that the message must name, and its wrong values. */
type Bad = readonly [name: string, field: string, changes: Readonly<Record<string, unknown>>]

const required = ["agent_id", "observed_at", "hostname", "features"].map((field): Bad => [
  `no ${field}`,
  field,
  { [field]: undefined },
])

const notTexts = [null, 1, true, {}, []]

const badIds: ReadonlyArray<Bad> = [
  "",
  "a b",
  "a/b",
  "a,b",
  "caf\u00e9",
  "a\n",
  "\u0000",
  "a\u0000",
  EMOJI,
  "a".repeat(129),
  ...notTexts,
].map((agent_id) => [`agent_id ${JSON.stringify(agent_id).slice(0, 20)}`, "agent_id", { agent_id }])

const badHostnames: ReadonlyArray<Bad> = [
  "",
  "h".repeat(254),
  EMOJI.repeat(254),
  "a\u0000b",
  "a\nb",
  "a\tb",
  "\u001f",
  "a\ud800",
  "\udc00a",
  "\udc00\ud800",
  ...notTexts,
].map((hostname) => [`hostname ${JSON.stringify(hostname).slice(0, 20)}`, "hostname", { hostname }])

const features = { push: true, metrics: true }
const badFeatures: ReadonlyArray<Bad> = [
  ["features null", "features", { features: null }],
  ["features a list", "features", { features: [true, true] }],
  ["features a text", "features", { features: "push" }],
  ["features without push", "features.push", { features: { metrics: true } }],
  ["features without metrics", "features.metrics", { features: { push: true } }],
  ["a text for a feature", "features.push", { features: { ...features, push: "true" } }],
  ["a number for a feature", "features.metrics", { features: { ...features, metrics: 1 } }],
  ["a null feature", "features.metrics", { features: { ...features, metrics: null } }],
  ["another feature", "features.pull", { features: { ...features, pull: true } }],
]

const labelled = (name: string, field: string, labels: unknown): Bad => [name, field, { labels }]
const secretKeys = [
  "password db_password passwd ssh.passphrase secret client-secret token x.token.y apikey api_key",
  "api-key apiKey access.key accessKey private_key signing:key encryptionKey credential",
  "aws_credentials authorization bearer cookie session_id sessionId connectionString",
  "connection_string pass db.pass dbPass pwd auth X-Auth jwt myJwt session user:session PASSWORD",
  "Api.Key pass_word",
].flatMap((line) => line.split(" "))

const badLabels: ReadonlyArray<Bad> = [
  labelled("33 labels", "labels", labelsOf(33)),
  labelled("40,000 labels", "labels", labelsOf(40_000)),
  labelled("labels null", "labels", null),
  labelled("labels a list", "labels", ["a"]),
  labelled("labels a text", "labels", "a=b"),
  labelled("an empty label key", "labels", { "": "x" }),
  labelled("a label key of 65 characters", "labels", { ["k".repeat(65)]: "x" }),
  labelled("a label key with a space", "labels", { "a b": "x" }),
  labelled("a label key with a slash", "labels", { "a/b": "x" }),
  labelled("a label key that is not ASCII", "labels", { "caf\u00e9": "x" }),
  labelled("a label value of 257 characters", "labels.key", { key: "v".repeat(257) }),
  labelled("a label value of 257 characters beyond the BMP", "labels.key", { key: EMOJI.repeat(257) }),
  labelled("NUL in a label value", "labels.key", { key: "\u0000" }),
  labelled("a line end in a label value", "labels.key", { key: "a\nb" }),
  labelled("a lone surrogate in a label value", "labels.key", { key: "\ud83d" }),
  ...notTexts.map((value) => labelled(`label value ${JSON.stringify(value)}`, "labels.key", { key: value })),
  ...secretKeys.map((key) => labelled(`label key ${key}`, "labels", { [key]: "x" })),
]

const unknownFields: ReadonlyArray<Bad> = [
  "hostName",
  "status",
  "key",
  "token",
  "",
  "a b",
  "constructor",
].map((field) => [
  `another field ${JSON.stringify(field)}`,
  field === "" || field === "a b" ? `"${field}"` : field,
  { [field]: "x" },
])

const noObjects = ["null", "[]", "[{}]", "1", "true", '"a"', "1e999", '""', "{}"]

/** A message names the field by its path, or by a path that leads into it. */
const namesField = (message: string, field: string): boolean =>
  message.startsWith(field) && /^[ .[]/.test(message.slice(field.length))

/**
 * Each field of a heartbeat, just inside and just outside its rule (docs/rules.md#values,
 * docs/rules.md#heartbeats).
 */
export const heartbeatFieldSuite = <Place>(subject: StorageUnderTest<Place>): void => {
  const { together } = onStorage(subject)

  together("heartbeats", (it) => {
    it.effect.each(good)("accepts %s, and returns it as it was sent", ([, changes]) =>
      Effect.gen(function* () {
        const agent = newAgent()
        const answer = yield* heartbeat(agent, changes)
        assert.strictEqual(answer.status, 202, answer.text)
        const { text } = yield* operate("GET", agentPath(agent))
        const shown: unknown = JSON.parse(text)
        // Compared as JSON: `__proto__` is a field there like any other.
        for (const [name, value] of Object.entries(changes)) {
          const entries =
            typeof value === "object" && value !== null ? Object.entries(value).toSorted() : value
          const field: unknown = Object.getOwnPropertyDescriptor(shown, name)?.value
          const found = typeof field === "object" && field !== null ? Object.entries(field).toSorted() : field
          assert.deepStrictEqual(found, entries, name)
        }
      }),
    )

    it.effect("accepts an agent_id of 128 characters, and of every allowed character", () =>
      Effect.gen(function* () {
        for (const agent_id of ["a", "a".repeat(128), "AZaz09._:-"]) {
          const agent = newAgent(agent_id)
          assert.strictEqual((yield* heartbeat(agent)).status, 202)
          assert.deepInclude((yield* operate("GET", agentPath(agent))).body, { agent_id })
        }
      }),
    )

    it.effect.each([...required, ...badIds, ...badHostnames, ...badFeatures, ...badLabels, ...unknownFields])(
      "refuses %s, and names the field",
      ([, field, changes]) =>
        Effect.gen(function* () {
          const agent = newAgent()
          const message = expectError(yield* heartbeat(agent, changes), 400, "validation")
          assert.isTrue(namesField(message, field), message)
          expectError(yield* operate("GET", agentPath(agent)), 404, "not_found")
        }),
    )

    it.effect.each(noObjects)("refuses a body that is %s", (body) =>
      Effect.gen(function* () {
        expectError(
          yield* call("POST", "/api/v1/heartbeat", { token: newAgent().key, body }),
          400,
          "validation",
        )
      }),
    )

    it.effect.each(goodTimestamps)("accepts observed_at %s", ([observed_at]) =>
      Effect.gen(function* () {
        assert.strictEqual((yield* heartbeat(newAgent(), { observed_at })).status, 202)
      }),
    )

    it.effect("refuses every invalid observed_at", () =>
      Effect.gen(function* () {
        for (const observed_at of badTimestamps) {
          const message = expectError(
            yield* heartbeat(newAgent(), { observed_at }),
            400,
            "validation",
            String(observed_at),
          )
          assert.match(message, /^observed_at must be /)
        }
      }),
    )

    describe("a message", () => {
      it.effect("repeats at most 64 characters of what was sent", () =>
        Effect.gen(function* () {
          const long = Array.from({ length: 100 }, (_, index) => String.fromCharCode(97 + (index % 26))).join(
            "",
          )
          const tooMuch = new RegExp(Array.from({ length: 36 }, (_, at) => long.slice(at, at + 65)).join("|"))
          const odd = `${long}\n`
          for (const changes of [
            { agent_id: `${long} ${long}` },
            { observed_at: long },
            { hostname: odd.repeat(3) },
            { features: long },
            { features: { ...features, [long]: true } },
            { labels: { [long]: "x" } },
            { labels: { key: odd } },
            { labels: { [`password${long.slice(0, 50)}`]: "x" } },
            { [long]: "x" },
          ]) {
            const message = expectError(yield* heartbeat(newAgent(), changes), 400, "validation")
            assert.notMatch(message, tooMuch)
          }
        }),
      )

      it.effect("contains no character that a terminal or a page would interpret", () =>
        Effect.gen(function* () {
          for (const field of [
            "\u001b[31mred",
            "\u202egnp.exe",
            "line\u2028end",
            "\u0000",
            "\ud800",
            "a\r\nb",
          ]) {
            const body = JSON.stringify({ ...heartbeatBody(newAgent()), [field]: 1 })
            const message = expectError(
              yield* call("POST", "/api/v1/heartbeat", { token: newAgent().key, body }),
              400,
              "validation",
            )
            assert.notMatch(message, /[\p{C}\p{Zl}\p{Zp}]/u)
          }
        }),
      )
    })
  })
}
