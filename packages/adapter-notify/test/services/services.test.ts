import { inspect } from "node:util"
import { assert, describe, it } from "@effect/vitest"
import type { IncidentKey } from "@tocsin/contract/Identifiers"
import { withoutTrailing } from "@tocsin/contract/withoutTrailing"
import { receiverTypes } from "@tocsin/contract/ReceiverTypes"
import { readPolicy } from "@tocsin/core/policy/readPolicy"
import type { ClaimedAlert, DeliveryAttempt } from "@tocsin/core/ports/Notifiers"
import { Duration, Effect, Fiber, Queue, Result } from "effect"
import { TestClock } from "effect/testing"
import fc from "fast-check"
import { propertyRuns } from "@tocsin/testing/propertyRuns"
import { services } from "../../src/services/services.ts"
import { aboutNotification, textOf, toneOf } from "../../src/text/ChatMessage.ts"
import { receiverOf } from "../messages.ts"
import { firing, resolved, shared } from "../notifications.ts"
import { type Received, startReceiver } from "../Receiver.ts"
import { fakes } from "./fakes.ts"

type ServiceType = keyof typeof services

const TYPES = Object.keys(services) as ReadonlyArray<ServiceType>
const PAGING: ReadonlyArray<ServiceType> = ["pagerduty", "opsgenie"]
const MARKED: ReadonlyArray<ServiceType> = ["discord", "google_chat", "mattermost", "rocket_chat", "zulip"]
const runbook = { url: "https://wiki.example.org/disk?page=1", note: "Disks" }
const links = {
  incident: `https://tocsin.example/base/#/incidents/${firing.incident.id}`,
  acknowledge: { url: `https://tocsin.example/base/a/${"0f".repeat(48)}`, for: Duration.hours(1) },
}
const CHATS = TYPES.filter((type) => !PAGING.includes(type))

/** Control characters, and those that turn the direction of a text. */
const INVISIBLE = /(?!\n)[\p{Cc}\p{Bidi_Control}]/u

type Answer = (request: Received) => {
  readonly status: number
  readonly body?: string
  readonly after?: string
}

/** The receiver of a type, and a fake of its service, which judges requests unless `answer` is given. */
const start = (type: ServiceType, answer?: Answer, secrets: Readonly<Record<string, string>> = {}) =>
  Effect.gen(function* () {
    const fake = fakes[type]
    const receiver = yield* startReceiver((response, request) => {
      const { after, body = "{}", status } = answer?.(request) ?? { status: fake.judge(request) }
      if (status === 0) return
      response.writeHead(status, after === undefined ? {} : { "retry-after": after }).end(body)
    })
    const url = `${receiver.origin}${fake.path}`
    const notifier = yield* receiverOf(fake.definition, { url, ...fake.secrets, ...secrets })
    return { ...notifier, requests: receiver.requests, textOf: fake.textOf }
  })

/** The request that a notification makes, without sending it. */
const requestOf = (type: ServiceType, notification: DeliveryAttempt): Received => {
  const { definition, path: base, secrets } = fakes[type]
  const { room = "", stream = "", topic = "", user = "" } = definition.kind === "messenger" ? definition : {}
  const none = { token: "", key: "", routing_key: "", user, room, stream, topic }
  const message = aboutNotification(notification)
  const { incident } = notification
  const text = textOf(message, services[type])
  const written = { id: message.id, text, tone: toneOf(message), incident, links: [] }
  const keys = { ...none, ...secrets, path: withoutTrailing(base, "/") }
  const { body, headers, method = "POST", path = base, type: form } = services[type].request(written, keys)
  return {
    method,
    path,
    headers: { ...headers, "content-type": form ?? "application/json" },
    body: typeof body === "string" ? body : JSON.stringify(body),
    closed: Effect.never,
  }
}

describe("the types of receivers", () => {
  it("are made from a policy with exactly their keys", () => {
    for (const type of TYPES) {
      const { definition, secrets } = fakes[type]
      const given = Object.fromEntries(
        Object.keys({ url: "", ...secrets }).map((name) => [`${name}_env`, "A"]),
      )
      const read = (receiver: object) => readPolicy({ receivers: { a: receiver } }, [])
      assert.isTrue(Result.isSuccess(read({ ...definition, ...given })), type)
      for (const key of receiverTypes[type].needs) {
        const {
          [key]: _key,
          [`${key}env`]: _env,
          ...rest
        }: Record<string, unknown> = { ...definition, ...given }
        assert.isTrue(Result.isFailure(read(rest)), `${type} without ${key}`)
      }
    }
  })

  it.effect.each(TYPES)("%s: the service takes firings, resolutions, tests and digests", (type) =>
    Effect.gen(function* () {
      const { requests, send, sendDigest, test, textOf } = yield* start(type)
      for (const one of [firing, shared, resolved]) {
        assert.deepStrictEqual(yield* send(one), { outcome: "delivered" })
        const text = textOf(yield* Queue.take(requests)).replaceAll(/[\\\u200b]/g, "")
        if (!PAGING.includes(type) || one !== resolved) assert.include(text, "/var is 97 % full")
      }
      assert.deepStrictEqual((yield* test).result, { outcome: "delivered" })
      yield* Queue.take(requests)
      assert.strictEqual(sendDigest !== undefined, CHATS.includes(type))
      if (sendDigest === undefined) return
      const many = Array.from({ length: 100 }, () => ({ ...shared, summary: "ä".repeat(512) }))
      assert.deepStrictEqual(yield* sendDigest(many), { outcome: "delivered" })
      assert.include(textOf(yield* Queue.take(requests)), "100 incidents are firing")
    }),
  )

  it.effect.each(TYPES)("%s: retries what the service refuses for now, as late as it asks", (type) =>
    Effect.gen(function* () {
      const { hint } = fakes[type]
      let answer: ReturnType<Answer> = { status: 500, body: "<html>" }
      const { send } = yield* start(type, () => answer)
      const resultOf = (next: ReturnType<Answer>) => {
        answer = next
        return send(firing)
      }
      const error = "The receiver answered 429 (Too Many Requests)."
      assert.strictEqual((yield* resultOf(answer)).outcome, "deferred")
      const asked = { outcome: "deferred", error, retryAfterSeconds: 7 } as const
      assert.deepStrictEqual(yield* resultOf({ status: 429, after: "7" }), asked)
      assert.deepStrictEqual(yield* resultOf({ status: 429, body: "garbage" }), {
        outcome: "deferred",
        error,
      })
      if (hint !== undefined) assert.deepStrictEqual(yield* resultOf({ status: 429, body: hint }), asked)
      for (const status of [400, 401, 403, 404, 422])
        assert.strictEqual((yield* resultOf({ status, body: "planted" })).outcome, "refused")
      assert.strictEqual((yield* resultOf({ status: 202, body: "garbage" })).outcome, "delivered")
    }),
  )

  it.effect.each(TYPES)("%s: wrong credentials, and an address of another, are refused for good", (type) =>
    Effect.gen(function* () {
      const { secrets } = fakes[type]
      for (const name of Object.keys(secrets)) {
        const { send } = yield* start(type, undefined, { [name]: "wrong" })
        assert.strictEqual((yield* send(firing)).outcome, "refused", name)
      }
      const elsewhere = (yield* startReceiver((response, request) => {
        response.writeHead(fakes[type].judge(request)).end("{}")
      })).origin
      const { send } = yield* start(type, undefined, { url: `${elsewhere}/elsewhere` })
      assert.strictEqual((yield* send(firing)).outcome, "refused")
    }),
  )

  it.effect.each(TYPES)("%s: gives up an attempt after 15 s", (type) =>
    Effect.gen(function* () {
      const { requests, send } = yield* start(type, () => ({ status: 0 }))
      const attempt = yield* Effect.forkChild(send(firing))
      yield* Queue.take(requests)
      yield* TestClock.adjust("15 seconds")
      assert.strictEqual((yield* Fiber.join(attempt)).outcome, "deferred")
    }),
  )

  it.effect.each(TYPES)("%s: shows no secret and no address, whatever the service repeats", (type) =>
    Effect.gen(function* () {
      const echo: Answer = ({ body, headers, path }) => ({
        status: 400,
        body: JSON.stringify({ body, headers, path }),
      })
      const notifier = yield* start(type, echo)
      const shown =
        JSON.stringify([yield* notifier.send(firing), yield* notifier.test]) + inspect(notifier, { depth: 9 })
      assert.include(shown, "400")
      assert.notMatch(shown, /planted|127\.0\.0\.1/)
      for (const name of Object.keys(fakes[type].secrets)) {
        const failure = yield* Effect.flip(start(type, undefined, { [name]: "planted\r\nx: y" }))
        assert.notInclude(JSON.stringify(failure) + String(failure.stack), "planted\r")
        assert.strictEqual(failure.setting, name)
      }
    }),
  )

  it.effect.each(PAGING)("%s: one alert for each incident, which a silent resolution ends", (type) =>
    Effect.gen(function* () {
      const { requests, resend, send } = yield* start(type)
      if (resend === undefined) return assert.fail("resends nothing")
      yield* send(firing)
      yield* send({ ...firing, severity: "warning" })
      const { incident } = resolved
      const alert = {
        receiver: "a",
        incident_id: incident.id,
        severity: firing.severity,
        leased_until: undefined,
      }
      const ended = { ...alert, next_at: resolved.created_at, ended_at: resolved.created_at }
      const claims: ReadonlyArray<ClaimedAlert> = [{ alert: ended, incident, isLast: true }]
      assert.deepStrictEqual(yield* resend(claims), { outcome: "delivered" })
      const [first, second, third] = yield* Queue.takeN(requests, 3)
      for (const request of [first, second, third])
        assert.include(`${request?.path}${request?.body}`, incident.id)
      assert.match(`${third?.path}${third?.body}`, /"resolve"|\/close\?/)
      assert.strictEqual(yield* Queue.size(requests), 0)
    }),
  )

  it.effect("matrix: a repeat has the same transaction, a digest of others does not", () =>
    Effect.gen(function* () {
      const { requests, send, sendDigest } = yield* start("matrix")
      if (sendDigest === undefined) return assert.fail("takes no digests")
      yield* send(firing)
      yield* send({ ...firing, attempt: 2 })
      yield* sendDigest([firing, resolved])
      yield* sendDigest([resolved, firing])
      yield* sendDigest([firing, firing])
      const paths = (yield* Queue.takeN(requests, 5)).map(({ path }) => path)
      assert.include(paths[0], firing.id)
      assert.deepStrictEqual(
        [paths[0] === paths[1], paths[2] === paths[3], paths[3] === paths[4]],
        [true, true, false],
      )
    }),
  )

  it.effect.each(TYPES)("%s: a firing has its links, of which none is escaped or pressed", (type) =>
    Effect.gen(function* () {
      const { requests, send } = yield* start(type)
      assert.deepStrictEqual(yield* send({ ...firing, links, runbook }), { outcome: "delivered" })
      const { body } = yield* Queue.take(requests)
      const text = body.startsWith("{") ? body : decodeURIComponent(body)
      assert.include(text, links.incident)
      assert.include(text, runbook.url)
      assert.include(text, links.acknowledge.url)
      if (type !== "ntfy") return
      const { actions, click, message } = JSON.parse(body)
      assert.strictEqual(click, links.incident)
      assert.deepStrictEqual(actions, [
        { action: "view", label: "Incident", url: links.incident },
        { action: "view", label: "Disks", url: runbook.url },
        {
          action: "http",
          label: "Acknowledge for 1h",
          url: links.acknowledge.url,
          method: "POST",
          clear: true,
        },
      ])
      assert.notInclude(message, "https://")
    }),
  )

  it("take any text of an agent: no mention, no hidden link, no image, within the limits", () => {
    const parts = [
      "@channel",
      "@all",
      "<!here>",
      "<users/all>",
      "[a](https://e.test)",
      "![a](https://e.test/x.png)",
    ]
    const more = [
      "<https://e.test|a>",
      "```",
      "@**all**",
      "\u202e",
      "\u0000",
      "\n",
      "ä",
      "🔥",
      '"',
      "\\",
      "<at>x</at>",
    ]
    const hostile = fc
      .array(fc.oneof(fc.constantFrom(...parts, ...more), fc.string({ unit: "binary" })), { maxLength: 12 })
      .map((texts) => texts.join(" "))
    const long = fc.constantFrom("🔥", "[a](b)", "@a ", "\\").map((text) => text.repeat(10_000 / text.length))
    fc.assert(
      fc.property(fc.oneof(hostile, long), fc.constantFrom(...TYPES), (summary, type) => {
        const request = requestOf(type, { ...shared, summary })
        assert.isBelow(fakes[type].judge(request), 300, request.body)
        assert.notMatch(fakes[type].textOf(request), INVISIBLE)
      }),
      { numRuns: propertyRuns(200) },
    )
    fc.assert(
      fc.property(fc.oneof(hostile, long), fc.constantFrom(...MARKED), (text, type) => {
        const written = services[type].escape(text)
        // Services that give characters a meaning: each sign of markup has something before or within it.
        assert.notMatch(written, /(?<!\\)@[\w*]|(?<!\\)<[!uha]|(?<!\\)\]\(|(?<!\\)`(?!\u200b)/)
      }),
      { numRuns: propertyRuns(50) },
    )
  })

  it.effect.each(TYPES)("%s: the service takes every hostile text", (type) =>
    Effect.gen(function* () {
      const { requests, send, sendDigest, textOf } = yield* start(type)
      const texts = [
        "@everyone <!channel> [a](https://e.test) ![b](c) ```",
        "🔥".repeat(5_000),
        "\u202e\u2066\u0000\u001b[1m\u007f\r\n\r\n",
        "\\\"'`".repeat(2_500),
        "\\".repeat(10_000),
      ]
      for (const text of texts) {
        // The limit of a key is in code points.
        const incident_key = Array.from(text).slice(0, 256).join("") as IncidentKey
        const incident = { ...shared.incident, incident_key }
        const hostile = { ...shared, summary: text.slice(0, 512), incident }
        assert.deepStrictEqual(
          yield* send(hostile),
          { outcome: "delivered" },
          JSON.stringify(text.slice(0, 20)),
        )
        if (sendDigest !== undefined)
          assert.deepStrictEqual(yield* sendDigest(Array.from({ length: 20 }, () => hostile)), {
            outcome: "delivered",
          })
        for (const request of yield* Queue.takeAll(requests)) assert.notMatch(textOf(request), INVISIBLE)
      }
    }),
  )
})
