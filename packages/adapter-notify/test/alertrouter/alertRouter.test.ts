import { assert, describe, it } from "@effect/vitest"
import type { ClaimedAlert } from "@tocsin/core/heart/notifications/Notifiers"
import type * as Instant from "@tocsin/contract/formats/Instant"
import { Duration, Effect, Queue, Redacted, Schema } from "effect"
import { TestClock } from "effect/testing"
import { alertRouter } from "../../src/alertrouter/alertRouter.ts"
import { at, firing, resolved, shared } from "../notifications.ts"
import { answering, startReceiver } from "../Receiver.ts"

const dateTime = Schema.String.check(Schema.isPattern(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/))
const labelSet = Schema.Record(
  Schema.String.check(Schema.isPattern(/^[a-zA-Z_][a-zA-Z0-9_]*$/)),
  Schema.NonEmptyString,
)

/**
 * Alertmanager's `postableAlerts` (api/v2/openapi.yaml), with the checks that its server adds:
 * times in order, a label.
 */
const PostableAlerts = Schema.fromJsonString(
  Schema.Array(
    Schema.Struct({ labels: labelSet, annotations: labelSet, startsAt: dateTime, endsAt: dateTime }).check(
      Schema.makeFilter(
        ({ labels, startsAt, endsAt }) => startsAt <= endsAt && Object.keys(labels).length > 0,
      ),
    ),
  ),
)
const decode = Schema.decodeUnknownSync(PostableAlerts, { onExcessProperty: "error" })

/** Answers like Alertmanager: 200 to valid alerts, 400 to others, 404 elsewhere. */
const startAlertmanager = startReceiver((response, { method, path, headers, body }) => {
  const isThere = method === "POST" && path === "/api/v2/alerts"
  const isValid =
    headers["content-type"] === "application/json" &&
    Schema.decodeUnknownResult(PostableAlerts, { onExcessProperty: "error" })(body)._tag === "Success"
  answering(isThere ? (isValid ? 200 : 400) : 404)(response)
})

const now = at("2026-01-31T08:50:00Z")
const setNow = TestClock.setTime(Number(now / 1_000n))

const routing = (url: string) =>
  alertRouter({ url: Redacted.make(url), timeout: Duration.seconds(15), denyPrivateTargets: false })

/** An alert of an incident, held by this process. */
const claim = (incident: ClaimedAlert["incident"], ended_at: Instant.Instant | undefined): ClaimedAlert => ({
  alert: {
    receiver: "alert_router",
    incident_id: incident.id,
    severity: "critical",
    next_at: now,
    ended_at,
    leased_until: now,
  },
  incident,
})

describe("an alert router", () => {
  it.effect("gets a firing alert that ends four minutes from now", () =>
    Effect.gen(function* () {
      yield* setNow
      const receiver = yield* startAlertmanager
      const router = yield* routing(receiver.origin)
      assert.strictEqual(router.kind, "alert_router")
      for (const notification of [firing, shared]) {
        assert.deepStrictEqual(yield* router.send(notification), { outcome: "delivered" })
        const [alert, ...rest] = decode((yield* Queue.take(receiver.requests)).body)
        assert.deepStrictEqual(rest, [])
        assert.strictEqual(alert?.startsAt, "2026-01-31T08:30:00.250Z")
        assert.strictEqual(alert?.endsAt, "2026-01-31T08:54:00.000Z")
        assert.strictEqual(alert?.labels["severity"], notification.severity)
      }
      assert.strictEqual(yield* Queue.size(receiver.requests), 0)
    }),
  )

  it.effect("gets the end of an alert", () =>
    Effect.gen(function* () {
      yield* setNow
      const receiver = yield* startAlertmanager
      assert.deepStrictEqual(yield* (yield* routing(receiver.origin)).send(resolved), {
        outcome: "delivered",
      })
      const [alert] = decode((yield* Queue.take(receiver.requests)).body)
      assert.strictEqual(alert?.endsAt, "2026-01-31T08:42:10.000Z")
    }),
  )

  it.effect("gets the end as now if the clock has been set back since", () =>
    Effect.gen(function* () {
      const opened = at("2026-01-31T09:30:00Z")
      const ended = at("2026-01-31T09:42:10Z")
      yield* setNow
      const receiver = yield* startAlertmanager
      const router = yield* routing(receiver.origin)
      const incident = { ...resolved.incident, opened_at: opened, resolved_at: ended }
      yield* router.send({ ...resolved, incident })
      yield* router.resend?.([claim(incident, ended)]) ?? assert.fail("no resend")
      for (let posts = 0; posts < 2; posts++) {
        const [alert] = decode((yield* Queue.take(receiver.requests)).body)
        assert.strictEqual(alert?.endsAt, "2026-01-31T08:50:00.000Z")
      }
    }),
  )

  it.effect("gets many alerts again in one request, each in its current state", () =>
    Effect.gen(function* () {
      yield* setNow
      const receiver = yield* startAlertmanager
      const router = yield* routing(receiver.origin)
      const reopened = { ...firing.incident, opened_at: at("2026-01-31T08:45:00Z") }
      const result = yield* (
        router.resend?.([claim(reopened, undefined), claim(resolved.incident, at("2026-01-31T08:42:10Z"))]) ??
          assert.fail("no resend")
      )
      assert.deepStrictEqual(result, { outcome: "delivered" })
      const alerts = decode((yield* Queue.take(receiver.requests)).body)
      // Of one label set the last counts: the incident that is open.
      assert.deepStrictEqual(alerts[0]?.labels, alerts[1]?.labels)
      assert.deepStrictEqual(
        alerts.map(({ endsAt }) => endsAt),
        ["2026-01-31T08:42:10.000Z", "2026-01-31T08:54:00.000Z"],
      )
    }),
  )

  it.effect("takes the base address with a path, as behind a proxy", () =>
    Effect.gen(function* () {
      const receiver = yield* startReceiver(answering(200))
      yield* (yield* routing(`${receiver.origin}/alertmanager/`)).send(firing)
      assert.strictEqual((yield* Queue.take(receiver.requests)).path, "/alertmanager/api/v2/alerts")
    }),
  )

  it.effect("can be tested, with an alert that expires", () =>
    Effect.gen(function* () {
      yield* setNow
      const receiver = yield* startAlertmanager
      const receipt = yield* (yield* routing(receiver.origin)).test
      assert.deepStrictEqual(receipt, { status: 200, result: { outcome: "delivered" } })
      const [alert] = decode((yield* Queue.take(receiver.requests)).body)
      assert.strictEqual(alert?.labels["alertname"], "TocsinTest")
      assert.strictEqual(alert?.endsAt, "2026-01-31T08:51:00.000Z")
    }),
  )

  it.effect("that refuses an alert gets no retry", () =>
    Effect.gen(function* () {
      const receiver = yield* startReceiver(answering(400, {}, '"bad alert"'))
      assert.strictEqual((yield* (yield* routing(receiver.origin)).send(firing)).outcome, "refused")
    }),
  )
})
