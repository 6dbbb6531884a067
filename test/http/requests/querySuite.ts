import { assert } from "@effect/vitest"
import { Effect } from "effect"
import type { StorageUnderTest } from "@tocsin/testing/StorageUnderTest"
import { operate } from "../client/call.ts"
import { expectError } from "../client/expectError.ts"
import { itemsOf } from "../client/itemsOf.ts"
import { onStorage } from "../onStorage.ts"
import { AGENT, populateLists } from "../client/populateLists.ts"

const agents = "/api/v1/agents"
const blacklist = "/api/v1/agents/admission/blacklist"
const checks = "/api/v1/checks"
const incidents = "/api/v1/incidents"
const history = "/api/v1/events/query"
const outbox = "/api/v1/notifiers/outbox"
const acceptAll = "/api/v1/agents/admission/accept-all"

/** One parameter of one or several paths: values that it takes, and values that it does not. */
interface Parameter {
  readonly name: string
  readonly paths: ReadonlyArray<string>
  readonly good: ReadonlyArray<string>
  readonly bad: ReadonlyArray<string>
}

const flags = {
  good: ["true", "false"],
  bad: ["", "TRUE", "False", "1", "0", "yes", "no", " true", "true ", "null", "truefalse"],
}
const ids = {
  good: ["nobody", AGENT, "a".repeat(128), "A.z_0:-", "__proto__"],
  bad: ["", "a b", "a/b", "a%2Fb", "a%00", "caf%C3%A9", "a".repeat(129), "a%0A", "a,b", "%F0%9F%9A%A8"],
}
const oneOf = (...good: ReadonlyArray<string>) => ({
  good,
  bad: [
    "",
    "other",
    `${good[0]}%20`,
    `${good[0]?.toUpperCase()}`,
    good.join(","),
    "null",
    "__proto__",
    "constructor",
  ],
})

const parameters: ReadonlyArray<Parameter> = [
  {
    name: "limit",
    paths: [agents, blacklist, checks, incidents, history, outbox],
    good: ["1", "2", "99", "100", "499", "500", "%31"],
    bad: [
      "",
      "0",
      "-1",
      "501",
      "1000",
      "99999999999999999999",
      "1.0",
      "1.5",
      "1e2",
      "0x10",
      "%2B1",
      "+1",
      " 1",
      "1 ",
      "abc",
      "NaN",
      "Infinity",
      "null",
      "true",
      "1,2",
      "%",
      "%zz",
      "%00",
      "\u0661",
    ].map(encodeSpaces),
  },
  {
    name: "back",
    paths: [agents, checks, incidents, history, outbox],
    good: flags.good,
    bad: flags.bad.map(encodeSpaces),
  },
  { name: "include_rotation", paths: [acceptAll], good: flags.good, bad: flags.bad.map(encodeSpaces) },
  { name: "agent_id", paths: [checks, incidents, history], ...ids, bad: ids.bad.map(encodeSpaces) },
  { name: "check_id", paths: [incidents, history], ...ids, bad: ids.bad.map(encodeSpaces) },
  { name: "state", paths: [incidents], ...oneOf("open", "resolved") },
  { name: "severity", paths: [incidents], ...oneOf("warning", "critical", "unknown") },
  { name: "sort", paths: [incidents], ...oneOf("status", "opened_at", "resolved_at") },
  { name: "direction", paths: [incidents, outbox], ...oneOf("asc", "desc") },
  { name: "state", paths: [outbox], ...oneOf("pending", "sending", "sent", "retry", "failed", "discarded") },
  { name: "notifier", paths: [outbox], ...oneOf("debug", "messenger", "webhook", "alert_router") },
  { name: "event_type", paths: [outbox], ...oneOf("firing", "resolved") },
  { name: "sort", paths: [outbox], ...oneOf("created_at", "updated_at") },
  {
    name: "cursor",
    paths: [agents, blacklist, checks, incidents, history, outbox],
    good: [],
    bad: [
      "",
      "x",
      "0",
      "null",
      "c".repeat(512),
      "c".repeat(513),
      "%00",
      "a%20b",
      "=",
      "W10",
      "W10%3D",
      "e30",
      "%F0%9F%9A%A8",
      "__proto__",
    ],
  },
]

function encodeSpaces(value: string): string {
  return encodeURI(value.replace(/%(?![0-9A-F]{2})/g, "%25")).replaceAll("%25", "%")
}

const cases = parameters.flatMap((parameter) =>
  parameter.paths.map((path) => [`${parameter.name} of ${path}`, path, parameter] as const),
)

const methodOf = (path: string): string => (path === acceptAll ? "POST" : "GET")

/**
 * Each query parameter, just inside and just outside its rule (docs/rules.md#lists,
 * docs/rules.md#queries).
 */
export const querySuite = <Place>(subject: StorageUnderTest<Place>): void => {
  const { together, scenario } = onStorage(subject)

  together("parameters", (it) => {
    it.effect.each(cases)("%s accepts valid values", ([, path, { name, good }]) =>
      Effect.gen(function* () {
        for (const value of good) {
          const answer = yield* operate(methodOf(path), `${path}?${name}=${value}`)
          assert.strictEqual(answer.status, 200, `${value}: ${answer.text}`)
        }
      }),
    )

    it.effect.each(cases)(
      "%s refuses other values, and is named in the message",
      ([, path, { name, good, bad }]) =>
        Effect.gen(function* () {
          const [value = "x"] = good
          const twice = [
            `${name}=${value}&${name}=${value}`,
            `${name}=${value}&other=1&${name}=`,
            `${name}&${name}`,
          ]
          for (const query of [...bad.map((refused) => `${name}=${refused}`), name, ...twice]) {
            const answer = yield* operate(methodOf(path), `${path}?${query}`)
            const message = expectError(answer, 400, "validation", `${query}: ${answer.text}`)
            assert.isTrue(message.startsWith(`${name} `), `${query}: ${message}`)
          }
        }),
    )

    it.effect("a name may be escaped, and is matched as a whole", () =>
      Effect.gen(function* () {
        for (const query of [
          "lim%69t=0",
          "%6Cimit=0",
          "x=1&limit=0",
          "&limit=0",
          "&&limit=0&",
          "limit=1&lim%69t=1",
        ]) {
          assert.strictEqual((yield* operate("GET", `${agents}?${query}`)).status, 400, query)
        }
        for (const query of [
          "Limit=0",
          "limit%20=0",
          "limit[]=0",
          "xlimit=0",
          "limit%00=0",
          "limi=0",
          ";limit=0",
        ]) {
          assert.strictEqual((yield* operate("GET", `${agents}?${query}`)).status, 200, query)
        }
      }),
    )

    it.effect("unknown parameters are ignored, repeated or malformed", () =>
      Effect.gen(function* () {
        for (const path of [
          agents,
          blacklist,
          checks,
          incidents,
          history,
          outbox,
          "/api/v1/system-summary",
          "/api/v1/health",
        ]) {
          for (const query of [
            "page=2",
            "a=1&a=2",
            "a",
            "=",
            "=&=",
            "%=%",
            "%ff=%ff",
            "__proto__=1",
            "constructor=x",
            "a[b]=c",
          ]) {
            assert.strictEqual((yield* operate("GET", `${path}?${query}`)).status, 200, `${path} ${query}`)
          }
        }
        // The blacklist knows no way back, nor does a list know the filter of another.
        assert.strictEqual((yield* operate("GET", `${blacklist}?back=perhaps&back=`)).status, 200)
        assert.strictEqual((yield* operate("GET", `${agents}?state=&sort=size&agent_id=`)).status, 200)
        assert.strictEqual((yield* operate("GET", `${checks}?check_id=a%20b`)).status, 200)
      }),
    )

    it.effect("key_id has exactly 64 characters", () =>
      Effect.gen(function* () {
        const emoji = encodeURIComponent("\u{1f6a8}")
        for (const key_id of [
          "0".repeat(64),
          "F".repeat(64),
          "-".repeat(64),
          "%20".repeat(64),
          emoji.repeat(64),
          "%00".repeat(64),
          "%2F".repeat(64),
          "%2e".repeat(64),
        ]) {
          assert.deepStrictEqual((yield* operate("DELETE", `${blacklist}/${key_id}`)).body, { count: 0 })
        }
        for (const key_id of [
          "0".repeat(63),
          "0".repeat(65),
          "x",
          emoji.repeat(63),
          emoji.repeat(32),
          emoji.repeat(65),
        ]) {
          const message = expectError(
            yield* operate("DELETE", `${blacklist}/${key_id}`),
            400,
            "validation",
            key_id,
          )
          assert.match(message, /^key_id must be /)
        }
      }),
    )
  })

  scenario("a page holds limit items, 100 by default", () =>
    Effect.gen(function* () {
      yield* populateLists
      for (const path of [agents, blacklist, checks, incidents, history, outbox]) {
        assert.lengthOf(yield* itemsOf(`${path}?limit=1`), 1, path)
        assert.deepStrictEqual(yield* itemsOf(path), yield* itemsOf(`${path}?limit=100`))
        assert.deepStrictEqual(yield* itemsOf(path), yield* itemsOf(`${path}?limit=500&back=false`))
        // back=true without a cursor is the first page.
        assert.deepStrictEqual(yield* itemsOf(path), yield* itemsOf(`${path}?back=true`))
      }
    }),
  )
}
