import * as Instant from "@tocsin/contract/formats/Instant"
import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, Queue, Redacted, Result, Schema } from "effect"
import { Webhook } from "standardwebhooks"
import { incidentMessage, parseSecrets, webhook, WebhookMessage } from "../../src/webhook/webhook.ts"
import { detailed, firing, resolved, shared, silence } from "../notifications.ts"
import { answering, type Received, startReceiver } from "../Receiver.ts"
import { TEST_ID, testIds } from "../testIds.ts"

const OLD = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
const NEW = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oDC2FVsBQIhrs="
const BARE = "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
const OTHER = "whsec_b3RoZXJvdGhlcm90aGVyb3RoZXJvdGhlcm8="

const sending = (url: string, secrets: ReadonlyArray<string>) =>
  webhook({
    url: Redacted.make(url),
    secrets: secrets.map((secret) => Redacted.make(secret)),
    timeout: Duration.seconds(15),
    denyPrivateTargets: false,
  }).pipe(Effect.provide(testIds))

const verify = (secret: string, { body, headers }: Received): unknown =>
  new Webhook(secret).verify(body, {
    "webhook-id": String(headers["webhook-id"]),
    "webhook-timestamp": String(headers["webhook-timestamp"]),
    "webhook-signature": String(headers["webhook-signature"]),
  })

const decode = Schema.decodeUnknownSync(Schema.fromJsonString(WebhookMessage))

// The verifier compares with the real time, so these run by it.
describe("a webhook's signature", () => {
  it.live.each([
    ["one secret", [OLD], [OLD, BARE]],
    ["a secret without prefix", [BARE], [OLD, BARE]],
    ["several secrets, while one is replaced", [NEW, OLD], [NEW, OLD]],
  ] as const)("is taken by the published verifier: %s", ([_name, secrets, verifiers]) =>
    Effect.gen(function* () {
      const receiver = yield* startReceiver(answering(204))
      const notifier = yield* sending(receiver.origin, secrets)
      assert.deepStrictEqual(yield* notifier.send({ ...firing, summary: "Öl & 😀 <b>" }), {
        outcome: "delivered",
      })
      const request = yield* Queue.take(receiver.requests)
      for (const secret of verifiers)
        assert.deepStrictEqual(verify(secret, request), JSON.parse(request.body))
      assert.throws(() => verify(OTHER, request), /No matching signature/)
      assert.throws(
        () => verify(secrets[0], { ...request, body: `${request.body} ` }),
        /No matching signature/,
      )
      assert.strictEqual(String(request.headers["webhook-signature"]).split(" ").length, secrets.length)
    }),
  )

  it.live("is signed again for each attempt, with the same id", () =>
    Effect.gen(function* () {
      const receiver = yield* startReceiver(answering(503))
      const notifier = yield* sending(receiver.origin, [OLD])
      yield* notifier.send(firing)
      yield* notifier.send({ ...firing, attempt: 2 })
      const first = yield* Queue.take(receiver.requests)
      const second = yield* Queue.take(receiver.requests)
      assert.strictEqual(first.headers["webhook-id"], firing.id)
      assert.strictEqual(second.headers["webhook-id"], firing.id)
      assert.strictEqual(second.body, first.body)
      verify(OLD, second)
    }),
  )

  it.live("covers a test message", () =>
    Effect.gen(function* () {
      const receiver = yield* startReceiver(answering(202))
      const notifier = yield* sending(receiver.origin, [OLD])
      assert.deepStrictEqual(yield* notifier.test, { status: 202, result: { outcome: "delivered" } })
      const request = yield* Queue.take(receiver.requests)
      verify(OLD, request)
      assert.strictEqual(request.headers["webhook-id"], TEST_ID)
      assert.deepInclude(decode(request.body), { type: "test", version: 1 })
    }),
  )
})

describe("a webhook's body", () => {
  it.effect.each([firing, resolved, shared])(
    "is of the documented form ($event_type, $severity)",
    (notification) =>
      Effect.gen(function* () {
        const receiver = yield* startReceiver(answering(200))
        yield* (yield* sending(receiver.origin, [OLD])).send(notification)
        const request = yield* Queue.take(receiver.requests)
        const message = decode(request.body)
        if (message.type === "test") assert.fail("a test")
        assert.strictEqual(message.type, `incident.${notification.event_type}`)
        assert.strictEqual(message.data.id, notification.id)
        assert.strictEqual(message.data.incident.id, notification.incident.id)
        assert.strictEqual(message.data.incident.resolved_at, notification.incident.resolved_at)
        assert.strictEqual(message.data.incident.agent_id, notification.incident.agent_id)
        assert.strictEqual(message.data.incident.members, notification.incident.members)
      }),
  )
})

describe("a webhook's body about an agent", () => {
  it("that is acknowledged says by whom, until when and at which severity", () => {
    const acknowledgement = {
      by: "ann",
      note: undefined,
      at: firing.created_at,
      until: resolved.created_at,
      severity: "critical",
    } as const
    const encode = Schema.encodeSync(WebhookMessage)
    const dataOf = (note: string | undefined): object =>
      encode(incidentMessage({ ...firing, acknowledgement: { ...acknowledgement, note } })).data
    const shown = {
      by: "ann",
      at: "2026-01-31T08:30:00.250Z",
      until: "2026-01-31T08:42:10.000Z",
      severity: "critical",
    }
    assert.deepInclude(dataOf(undefined), { acknowledgement: shown })
    assert.deepInclude(dataOf("on it"), { acknowledgement: { ...shown, note: "on it" } })
    assert.notProperty(encode(incidentMessage(firing)).data, "acknowledgement")
  })

  it.effect("that is silent names no check", () =>
    Effect.gen(function* () {
      const receiver = yield* startReceiver(answering(200))
      yield* (yield* sending(receiver.origin, [OLD])).send(silence)
      const message = decode((yield* Queue.take(receiver.requests)).body)
      if (message.type === "test") assert.fail("a test")
      const { agent_id, check_id, opened_by } = message.data.incident
      assert.deepStrictEqual(
        { agent_id, check_id, opened_by },
        {
          agent_id: "web-1",
          check_id: undefined,
          opened_by: { agent_id: "web-1" },
        },
      )
    }),
  )
})

describe("a webhook's message", () => {
  const dataOf = (notification: typeof firing) => {
    const { receiver, cause, firing_for_seconds, links } = incidentMessage(notification).data
    return { receiver, cause, firing_for_seconds, links }
  }

  it("says why, to whom and how long after the opening it became due", () => {
    const age_starts_at = Instant.plus(firing.incident.opened_at, Duration.minutes(15))
    assert.deepStrictEqual(dataOf({ ...firing, receiver: "pager", cause: "escalation", age_starts_at }), {
      receiver: "pager",
      cause: "escalation",
      firing_for_seconds: 900,
      links: undefined,
    })
  })

  it("of a resolution says how long the incident was open, whenever it is sent", () => {
    const age_starts_at = Instant.plus(resolved.created_at, Duration.hours(3))
    assert.strictEqual(dataOf({ ...resolved, age_starts_at }).firing_for_seconds, 730)
    assert.isUndefined(dataOf(resolved).cause)
    assert.deepStrictEqual(incidentMessage(resolved).data.resolution, { reason: "recovered" })
    assert.isUndefined(incidentMessage(firing).data.resolution)
  })

  it("never has a negative time, even if the clock was set back", () => {
    const age_starts_at = Instant.minus(firing.created_at, Duration.hours(1))
    assert.strictEqual(dataOf({ ...firing, age_starts_at }).firing_for_seconds, 0)
  })

  it("has the runbook of its notification", () => {
    const runbook = { url: "https://wiki.example.org/disk", note: "Disks" }
    assert.deepStrictEqual(incidentMessage({ ...firing, runbook }).data.runbook, runbook)
    assert.include(incidentMessage({ ...firing, runbook }).data.text, `\nDisks: ${runbook.url}`)
    assert.notProperty(incidentMessage(firing).data, "runbook")
  })

  it("has the details of its notification, which are not in its text", () => {
    const { data } = incidentMessage(detailed)
    assert.deepStrictEqual(data.details, {
      labels: { mount: "/var", team: "shop" },
      output: "/var is 97 % full\n3.1 GiB of 94 GiB are free\nlargest: /var/log/app, 61 GiB",
      source: "https://prom.example.org/graph?g0.expr=up&g0.tab=1",
      since: firing.incident.opened_at,
      duration_seconds: 0.25,
    })
    assert.strictEqual(data.text, incidentMessage(firing).data.text)
    assert.isFalse("details" in incidentMessage(firing).data)
    const { details = assert.fail() } = detailed
    const job = { ...details, output: `${"a".repeat(2_000)}\nthe end`, isJob: true }
    const shown = incidentMessage({ ...firing, details: job }).data.details
    assert.deepStrictEqual(
      [shown?.output_is_end, Array.from(shown?.output ?? "").length, shown?.output?.slice(-8)],
      [true, 1_000, "\nthe end"],
    )
    const bare = { ...details, output: "", source: undefined, duration_seconds: undefined, labels: {} }
    assert.deepStrictEqual(incidentMessage({ ...firing, details: bare }).data.details, {
      labels: {},
      since: firing.incident.opened_at,
    })
  })

  it("has the links of its notification", () => {
    const incident = "https://tocsin.example/base/#/incidents/1"
    const acknowledge = { url: "https://tocsin.example/base/a/2", for: Duration.hours(1) }
    assert.deepStrictEqual(dataOf({ ...firing, links: { incident, acknowledge: undefined } }).links, {
      incident,
    })
    assert.deepStrictEqual(dataOf({ ...firing, links: { incident, acknowledge } }).links, {
      incident,
      acknowledge: acknowledge.url,
    })
  })
})

describe("a webhook's secrets", () => {
  const problem = (...secrets: ReadonlyArray<string>) =>
    Result.getFailure(parseSecrets(secrets.map((secret) => Redacted.make(secret)))).pipe((failure) =>
      failure._tag === "Some" ? failure.value : undefined,
    )

  it("are at least one", () => {
    assert.strictEqual(problem(), "must contain at least one secret: whsec_ followed by base64")
  })

  it.each([
    ["no base64", "whsec_not base64!"],
    ["nothing", "whsec_"],
    ["nothing at all", ""],
    ["without padding", "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oDC2FVsBQIhrs"],
    ["the alphabet of URLs", "whsec_C2FVsBQIhrscChlQIMV-b5sSYspob7oDC2FVsBQIhrs="],
    ["a line break", `${OLD}\n`],
    ["another prefix", "whpk_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"],
    ["loose bits at the end", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMR=="],
    ["one byte", "whsec_TQ=="],
    ["23 bytes", `whsec_${Buffer.alloc(23, 7).toString("base64")}`],
    ["65 bytes", `whsec_${Buffer.alloc(65, 7).toString("base64")}`],
  ])("are padded base64: %s is a bad setting", (_name, secret) => {
    const message = problem(secret)
    assert.match(message ?? "", /^must be whsec_ followed by 24 to 64 bytes in base64/)
    if (secret.length > "whsec_".length) assert.notInclude(message ?? "", secret.slice("whsec_".length))
  })

  it.each([24, 64])("are long enough with %i bytes, and not too long", (bytes) => {
    assert.isUndefined(problem(`whsec_${Buffer.alloc(bytes, 7).toString("base64")}`))
  })

  it("are named by their number if one of several is invalid", () => {
    assert.match(problem(OLD, "whsec_?", NEW) ?? "", /, which number 2 of 3 is not$/)
  })

  it.effect("stop the notifier from being made, by name", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(sending("https://receiver.example/", ["whsec_?"]))
      assert.strictEqual(error.setting, "secrets")
    }),
  )
})
