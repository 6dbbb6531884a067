import { inspect } from "node:util"
import { assert, describe, it } from "@effect/vitest"
import type { IncidentKey } from "@tocsin/contract/formats/Identifiers"
import { receiverTypes } from "@tocsin/contract/receivers/ReceiverTypes"
import { linksOf } from "@tocsin/core/heart/notifications/incidentText"
import { readPolicy } from "@tocsin/core/lists/readPolicy"
import type { ClaimedAlert, DeliveryAttempt } from "@tocsin/core/heart/notifications/Notifiers"
import { Duration, Effect, Fiber, Queue, Result } from "effect"
import { TestClock } from "effect/testing"
import fc from "fast-check"
import { propertyRuns } from "@tocsin/testing/propertyRuns"
import { services } from "../../src/services/services.ts"
import { aboutNotification, textOf, toneOf } from "../../src/text/ChatMessage.ts"
import { receiverOf } from "../messages.ts"
import { detailed, detailsOf, firing, resolved, shared, SOURCE } from "../notifications.ts"
import { type Received, startReceiver } from "../Receiver.ts"
import { fakes, serviceKeysOf } from "./fakes.ts"
import { heardIn } from "./TelephoneService.ts"
import { anyCharacter } from "@tocsin/testing/anyCharacter"

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
const start = (
  type: ServiceType,
  answer?: Answer,
  secrets: Readonly<Record<string, string>> = {},
  definition = fakes[type].definition,
) =>
  Effect.gen(function* () {
    const fake = fakes[type]
    const receiver = yield* startReceiver((response, request) => {
      const { after, body = "{}", status } = answer?.(request) ?? { status: fake.judge(request) }
      if (status === 0) return
      response.writeHead(status, after === undefined ? {} : { "retry-after": after }).end(body)
    })
    const url = `${receiver.origin}${fake.path}`
    const notifier = yield* receiverOf(definition, { url, ...fake.secrets, ...secrets })
    return { ...notifier, requests: receiver.requests, textOf: fake.textOf }
  })

/** The request that a notification makes, without sending it. */
const requestOf = (type: ServiceType, notification: DeliveryAttempt): Received => {
  const { path: base } = fakes[type]
  const message = aboutNotification(notification)
  const { incident } = notification
  const text = services[type].textOf?.(message) ?? textOf(message, services[type])
  const about = { incident, count: 1, tags: [incident.id], links: linksOf(notification) }
  const written = { id: message.id, text, tone: toneOf(message), ...about }
  const keys = serviceKeysOf(fakes[type])
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
        const isShort = one === resolved && (type === "call" || type === "sms")
        if (!PAGING.includes(type) || one !== resolved)
          assert.include(text, isShort ? "ok again after" : "/var is 97 % full")
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
      const { isPhone, verdicts = {} } = services[type]
      const expected = isPhone ? ({ ...asked, isAnswered: true } as const) : asked
      assert.deepStrictEqual(yield* resultOf({ status: 429, after: "7" }), expected)
      assert.deepStrictEqual(yield* resultOf({ status: 429, body: "garbage" }), {
        outcome: "deferred",
        error,
        ...(isPhone && ({ isAnswered: true } as const)),
      })
      if (hint !== undefined) assert.deepStrictEqual(yield* resultOf({ status: 429, body: hint }), asked)
      for (const status of [400, 401, 403, 404, 422])
        assert.strictEqual(
          (yield* resultOf({ status, body: "planted" })).outcome,
          verdicts[status] ?? "refused",
        )
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
        assert.strictEqual("setting" in failure ? failure.setting : failure._tag, name)
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
      yield* send(resolved)
      const [first, second, third, last] = yield* Queue.takeN(requests, 4)
      for (const request of [first, second, third, last])
        assert.include(`${request?.path}${request?.body}`, incident.id)
      assert.match(`${third?.path}${third?.body}`, /"resolve"|\/close\?/)
      assert.match(`${last?.path}${last?.body}`, /"resolve"|\/close\?/)
      // A resolution says how it ended, unless that was without a notification.
      assert.include(last?.body, "ok again after 12 min 10 s")
      assert.notInclude(third?.body, "RESOLVED")
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
      assert.include(text, links.acknowledge.url)
      if (type === "sms" || type === "call") return
      assert.include(text, links.incident)
      assert.include(text, runbook.url)
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

  it.effect.each(CHATS)("%s: a message ends with the details, unless it is for a phone", (type) =>
    Effect.gen(function* () {
      const { requests, send, takesDetails, textOf } = yield* start(type)
      const isForPhone = type === "sms" || type === "call"
      assert.strictEqual(takesDetails ?? false, !isForPhone)
      assert.deepStrictEqual(yield* send({ ...detailed, links, runbook }), { outcome: "delivered" })
      const { body } = yield* Queue.take(requests)
      const text = textOf({ body } as Received).replaceAll(/\u200b|\\(?=\W)/g, "")
      if (isForPhone) return assert.notInclude(text, "mount=/var")
      assert.include(text, "Labels: mount=/var, team=shop")
      assert.include(text, "> largest: /var/log/app, 61 GiB")
      const isAddress = (body.startsWith("{") ? body : decodeURIComponent(body)).includes(SOURCE)
      assert.isTrue(isAddress)
      assert.isTrue(text.indexOf("Labels: ") > text.indexOf("Since "))
    }),
  )

  it.effect("pushover: an emergency repeats until it is acknowledged, or the incident resolves", () =>
    Effect.gen(function* () {
      const definition = { ...fakes.pushover.definition, emergency: true } as const
      const { requests, send, test } = yield* start("pushover", undefined, {}, definition)
      const bodyOf = Effect.map(Queue.take(requests), ({ body }) =>
        Object.fromEntries(new URLSearchParams(body)),
      )
      yield* send({ ...firing, links })
      const { callback, expire, priority, retry, tags } = yield* bodyOf
      assert.deepStrictEqual(
        { callback, expire, priority, retry, tags },
        {
          callback: links.acknowledge.url,
          expire: "1800",
          priority: "2",
          retry: "60",
          tags: firing.incident.id,
        },
      )
      yield* send({ ...firing, severity: "warning" })
      assert.strictEqual((yield* bodyOf)["priority"], "0")
      yield* test
      assert.strictEqual((yield* bodyOf)["priority"], "0")
      assert.deepStrictEqual(yield* send(resolved), { outcome: "delivered" })
      const [cancel, message] = yield* Queue.takeN(requests, 2)
      assert.strictEqual(cancel?.path, `/1/receipts/cancel_by_tag/${resolved.incident.id}.json`)
      assert.strictEqual(message?.path, "/1/messages.json")
    }),
  )

  it.effect("pushover: an alarm ends by its tag, where there are alarms", () =>
    Effect.gen(function* () {
      const definition = { ...fakes.pushover.definition, emergency: true } as const
      const { endAlarm, requests } = yield* start("pushover", () => ({ status: 200 }), {}, definition)
      assert.deepStrictEqual(yield* endAlarm?.(firing.incident.id) ?? assert.fail(), { outcome: "delivered" })
      const { path } = yield* Queue.take(requests)
      assert.strictEqual(path, `/1/receipts/cancel_by_tag/${firing.incident.id}.json`)
      assert.isUndefined((yield* start("pushover")).endAlarm)
    }),
  )

  it.effect("pushover: the end of an alarm decides nothing, and takes a third of the time", () =>
    Effect.gen(function* () {
      const definition = { ...fakes.pushover.definition, emergency: true } as const
      const silent: Answer = ({ path }) => ({ status: path.includes("receipts") ? 0 : 200 })
      const { requests, send } = yield* start("pushover", silent, {}, definition)
      const attempt = yield* Effect.forkChild(send(resolved))
      yield* Queue.take(requests)
      yield* TestClock.adjust("5 seconds")
      yield* Queue.take(requests)
      assert.deepStrictEqual(yield* Fiber.join(attempt), { outcome: "delivered" })
    }),
  )

  it.effect("ntfy: calls on critical, and sends the message without the call after a 4xx", () =>
    Effect.gen(function* () {
      const definition = { ...fakes.ntfy.definition, call: "+4915112345678" } as const
      const unverified: Answer = ({ body }) => ({ status: body.includes('"call"') ? 429 : 200 })
      const { requests, send, test } = yield* start("ntfy", unverified, {}, definition)
      assert.deepStrictEqual(yield* send(firing), { outcome: "delivered" })
      const [calling, without] = (yield* Queue.takeN(requests, 2)).map(({ body }) => JSON.parse(body))
      const { call, ...rest } = calling
      assert.strictEqual(call, "+4915112345678")
      assert.deepStrictEqual(without, rest)
      for (const one of [{ ...firing, severity: "warning" } as const, resolved]) {
        yield* send(one)
        assert.notInclude((yield* Queue.take(requests)).body, '"call"')
      }
      assert.strictEqual((yield* test).status, 429)
      assert.strictEqual(yield* Queue.size(requests), 1)
    }),
  )

  it.effect("ntfy: both requests of an attempt end within its time", () =>
    Effect.gen(function* () {
      const definition = { ...fakes.ntfy.definition, call: "yes" } as const
      const slow: Answer = ({ body }) => ({ status: body.includes('"call"') ? 404 : 0 })
      const { requests, send } = yield* start("ntfy", slow, {}, definition)
      const attempt = yield* Effect.forkChild(send(firing))
      yield* Queue.takeN(requests, 2)
      yield* TestClock.adjust("15 seconds")
      assert.strictEqual((yield* Fiber.join(attempt)).outcome, "deferred")
    }),
  )

  it.effect.each([
    ["signal", 400, "deferred"],
    ["signal", 404, "refused"],
    ["apprise", 424, "deferred"],
    ["apprise", 204, "refused"],
    ["sms", 400, "refused"],
    ["sms", 201, "delivered"],
  ] as const)("%s: %d is %s", ([type, status, outcome]) =>
    Effect.gen(function* () {
      const { send } = yield* start(type, () => ({ status, body: "+4915112345678" }))
      const result = yield* send(firing)
      assert.strictEqual(result.outcome, outcome)
      assert.notInclude(JSON.stringify(result), "4915112345678")
    }),
  )

  it.effect.each(["ntfy", "teams", "pushover"] as const)(
    "%s: a digest has no button, which is of one",
    (type) =>
      Effect.gen(function* () {
        const definition =
          type === "pushover" ? { ...fakes.pushover.definition, emergency: true } : fakes[type].definition
        const { requests, sendDigest } = yield* start(type, undefined, {}, definition)
        yield* (
          sendDigest?.([
            { ...firing, links },
            { ...shared, links },
          ]) ?? Effect.void
        )
        const { body } = yield* Queue.take(requests)
        assert.match(body, /2.incidents.are.firing/)
        assert.notMatch(body, /callback|actions|Acknowledge for/)
      }),
  )

  it.effect("apprise: tries three times where one of its services failed", () =>
    Effect.gen(function* () {
      const { send } = yield* start("apprise", () => ({ status: 424 }))
      const error = "The receiver answered 424 (Failed Dependency)."
      const results = yield* Effect.forEach([1, 2, 3], (attempt) => send({ ...firing, attempt }))
      assert.deepStrictEqual(results, [
        { outcome: "deferred", error, retryAfterSeconds: 60 },
        { outcome: "deferred", error, retryAfterSeconds: 300 },
        { outcome: "refused", error },
      ])
    }),
  )

  it.effect("call: says twice what broke, and which key acknowledges it", () =>
    Effect.gen(function* () {
      const definition = { ...fakes.call.definition, language: "de-DE" } as const
      const { requests, send, sendDigest, test } = yield* start("call", undefined, {}, definition)
      const heard = Effect.map(Queue.take(requests), ({ body }) =>
        heardIn(new URLSearchParams(body).get("Twiml") ?? ""),
      )
      const saying = (sentence: string) => `…\n${sentence}\n…\n${sentence}`
      yield* send({ ...firing, links })
      assert.deepStrictEqual(yield* heard, {
        text: saying("Tocsin: critical. web-1/disk. /var is 97 % full. Press 1 to acknowledge."),
        languages: ["de-DE", "de-DE"],
        gather: { numDigits: "1", timeout: "10", method: "POST", action: `${links.acknowledge.url}/call` },
      })
      const sentences = [
        [send(firing), "Tocsin: critical. web-1/disk. /var is 97 % full."],
        [
          send({ ...firing, links, incident: resolved.incident }),
          "Tocsin: critical, but resolved by now. web-1/disk. /var is 97 % full.",
        ],
        [
          send({
            ...firing,
            tz: "Europe/Berlin",
            summary: "late: nothing since 2026-01-30 02:03:00 CET, expected by 2026-01-31 09:30:00 CET",
          }),
          "Tocsin: critical. web-1/disk. late: nothing since 02:03 CET on January 30, expected by 09:30 CET.",
        ],
        [
          send({ ...resolved, links: { ...links, acknowledge: undefined } }),
          "Tocsin: resolved. web-1/disk. ok again after 12 minutes 10 seconds.",
        ],
        [test, "TEST: Tocsin reaches you here. Nothing is wrong."],
      ] as const
      for (const [sent, sentence] of sentences) {
        yield* sent
        const { gather, text } = yield* heard
        assert.strictEqual(text, saying(sentence))
        assert.isUndefined(gather)
      }
      const several = [
        { ...firing, links, severity: "warning" as const },
        { ...firing, links },
        { ...shared, links },
      ]
      yield* sendDigest?.(several) ?? Effect.void
      const call = yield* heard
      const worst =
        "critical. web-1/disk. /var is 97 % full. warning. web-1/disk. /var is 97 % full. warning. storage <rack 4> & others. /var is 97 % full."
      assert.strictEqual(
        call.text,
        saying(`Tocsin: 3 incidents are firing. ${worst} Press 1 to acknowledge all 3.`),
      )
      assert.strictEqual(call.gather?.["action"], `${links.acknowledge.url}/call`)
      yield* sendDigest?.(Array.from({ length: 11 }, () => ({ ...firing, links }))) ?? Effect.void
      const many = yield* heard
      assert.strictEqual(
        many.text,
        saying("Tocsin: 11 incidents are firing. The worst: critical. web-1/disk. /var is 97 % full."),
      )
      assert.isUndefined(many.gather)
    }),
  )

  it("call: any text is a document that is not too long, and is heard as it was written", () => {
    const parts = fc.constantFrom(
      "</Say><Hangup/>",
      "&amp;",
      "<![CDATA[",
      "]]>",
      "<!--",
      "\u0000",
      "\uffff",
      "\ud800",
      "'\"",
      "ä🔥 ",
    )
    const hostile = fc
      .array(fc.oneof(parts, fc.string({ unit: anyCharacter })), { maxLength: 60 })
      .map((all) => all.join(""))
    fc.assert(
      fc.property(hostile, hostile, fc.integer({ min: 0, max: 400 }), (summary, key, path) => {
        const incident = { ...shared.incident, incident_key: `k${key}` as IncidentKey }
        const url = `https://tocsin.example/${"a".repeat(path)}/a/${"0f".repeat(48)}`
        const sent = {
          ...shared,
          summary,
          incident,
          links: { ...links, acknowledge: { ...links.acknowledge, url } },
        }
        const { body } = requestOf("call", sent)
        const document = new URLSearchParams(body).get("Twiml") ?? ""
        assert.isAtMost(Array.from(document).length, 4_000)
        const { text } = heardIn(document)
        assert.match(text, /^…\nTocsin: warning\. k[^]*Press 1 to acknowledge\.$/)
      }),
      { numRuns: propertyRuns(100) },
    )
  })

  it.effect.each([
    [201, "delivered", undefined],
    [400, "refused", undefined],
    [429, "deferred", true],
    [503, "deferred", true],
    [0, "deferred", undefined],
  ] as const)("call: whether it may have rung is known of %d", ([status, outcome, isAnswered]) =>
    Effect.gen(function* () {
      const { requests, send } = yield* start("call", () => ({ status, body: "+4915112345678" }))
      const attempt = yield* Effect.forkChild(send(firing))
      yield* Queue.take(requests)
      if (status === 0) yield* TestClock.adjust("15 seconds")
      const result = yield* Fiber.join(attempt)
      assert.strictEqual(result.outcome, outcome)
      assert.strictEqual(result.outcome === "deferred" ? result.isAnswered : undefined, isAnswered)
      assert.notInclude(JSON.stringify(result), "4915112345678")
    }),
  )

  it.effect("sms: an API key and a messaging service take the place of the account and the sender", () =>
    Effect.gen(function* () {
      const from = `MG${"0a".repeat(16)}`
      const definition = {
        kind: "messenger",
        type: "sms",
        account: "AC1",
        user: "SK2",
        from,
        to: "+49151",
      } as const
      const { requests, send } = yield* start("sms", () => ({ status: 201 }), {}, definition)
      yield* send({ ...firing, links })
      const { body, headers } = yield* Queue.take(requests)
      assert.strictEqual(
        headers.authorization,
        `Basic ${Buffer.from("SK2:planted-token").toString("base64")}`,
      )
      assert.deepStrictEqual(Object.fromEntries(new URLSearchParams(body)), {
        To: "+49151",
        MessagingServiceSid: from,
        Body: `CRITICAL: web-1/disk: /var is 97 % full\n${links.acknowledge.url}`,
      })
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
      .array(fc.oneof(fc.constantFrom(...parts, ...more), fc.string({ unit: anyCharacter })), {
        maxLength: 12,
      })
      .map((texts) => texts.join(" "))
    const long = fc.constantFrom("🔥", "[a](b)", "@a ", "\\").map((text) => text.repeat(10_000 / text.length))
    fc.assert(
      fc.property(fc.oneof(hostile, long), fc.constantFrom(...TYPES), (summary, type) => {
        const details = detailsOf(summary.replaceAll(" ", "\n"), { a: summary.slice(0, 256) })
        const request = requestOf(type, { ...shared, summary, details })
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
        const details = detailsOf(text, { a: text.slice(0, 256) })
        const hostile = { ...shared, summary: text.slice(0, 512), incident, details }
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
