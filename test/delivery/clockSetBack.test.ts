import { assert, describe, it } from "@effect/vitest"
import { compilePolicy } from "@tocsin/core/heart/policy/compilePolicy"
import { readPolicy } from "@tocsin/core/lists/readPolicy"
import { heartbeatOf, keyOf } from "@tocsin/testing/samples"
import { Duration, Effect, Result } from "effect"
import { AGENT } from "../service/agents.ts"
import { deferred, delivered, hanging } from "../service/Receivers.ts"
import { settled } from "../service/settled.ts"
import type { ProcessOptions } from "../service/Service.ts"
import { type Clocks, onShiftedClock } from "../service/ShiftedClock.ts"
import { openTimeline } from "../service/Timeline.ts"

const NAMES = ["webhook", "messenger", "alert_router"]

/** The agent `a` has a clock that is right, and sends no heartbeats. */
const open = Effect.fnUntraced(function* ({ clock, rightNow }: Clocks, options: ProcessOptions = {}) {
  const timeline = yield* openTimeline({
    notifiers: NAMES,
    deadAfter: Duration.days(365),
    process: { keepsHouse: true, ...options },
  })
  const { after, agent, front, service } = timeline
  return {
    ...timeline,
    reports: (check: string, status: "ok" | "warning" | "critical", loud = true) =>
      Effect.flatMap(rightNow, (observedAt) => agent().reports({ check, status, loud, observedAt })),
    follows: (document: object) =>
      front.policy.replace(compilePolicy(Result.getOrThrow(readPolicy(document, NAMES)), NAMES)),
    /** Lets something happen while the clock of the service is a day ahead. */
    whileAhead: Effect.fnUntraced(function* (act: Effect.Effect<unknown>) {
      clock.setAhead("1 day")
      yield* after("6 seconds")
      yield* act
      yield* settled
      clock.setBack("1 day")
    }),
    opensAnother: Effect.andThen(service.open("second", { keepsHouse: true }), settled),
  }
})

type Opened = Effect.Success<ReturnType<typeof open>>

const timeline =
  (test: (opened: Opened, clocks: Clocks) => Effect.Effect<void>, options?: ProcessOptions) => () =>
    onShiftedClock((clocks) => Effect.flatMap(open(clocks, options), (opened) => test(opened, clocks)))

describe("after a clock that was ahead is set back", () => {
  it.effect(
    "a firing of an incident that opened ahead waits until the opening is right",
    timeline(({ after, reports, webhook, whileAhead }) =>
      Effect.gen(function* () {
        yield* whileAhead(reports("disk", "warning", false))
        yield* reports("disk", "critical")
        yield* settled
        yield* webhook.has()
        yield* after("15 seconds")
        yield* webhook.has("firing critical a/disk")
      }),
    ),
  )

  it.effect(
    "a notification is tried again as soon as usual, and so is the one behind it",
    timeline(({ after, reports, webhook, whileAhead }) =>
      Effect.gen(function* () {
        yield* webhook.answers(deferred)
        yield* whileAhead(reports("disk", "critical"))
        yield* webhook.answers(delivered)
        yield* after("3 seconds")
        yield* webhook.has()
        yield* after("12 seconds")
        yield* webhook.has("firing critical a/disk")
        yield* reports("disk", "ok")
        yield* webhook.has("firing critical a/disk", "resolved critical a/disk")
      }),
    ),
  )

  it.effect(
    "a notification that was not attempted is sent",
    timeline(
      ({ after, opensAnother, reports, webhook, whileAhead }) =>
        Effect.gen(function* () {
          yield* whileAhead(reports("disk", "critical"))
          yield* opensAnother
          yield* after("10 seconds")
          yield* webhook.has("firing critical a/disk")
        }),
      { delivers: false },
    ),
  )

  it.effect(
    "a notification that a killed process was sending is sent when its lease ends",
    timeline(({ after, front, opensAnother, reports, webhook, whileAhead }) =>
      Effect.gen(function* () {
        yield* webhook.answers(hanging, { client: "first" })
        yield* whileAhead(reports("disk", "critical"))
        front.faults.isUnreachable = true
        yield* opensAnother
        yield* after("50 seconds")
        yield* webhook.has()
        yield* after("30 seconds")
        yield* webhook.has("firing critical a/disk")
      }),
    ),
  )

  it.effect(
    "a firing waits for no longer than its route says, and so do steps and reminders",
    timeline(({ after, follows, messenger, reports, webhook, whileAhead }) =>
      Effect.gen(function* () {
        const steps = [{ to: ["webhook"] }, { after: "15m", to: ["messenger"] }]
        yield* follows({ routes: [{ after: "1m", remind: "30m", steps }] })
        yield* whileAhead(reports("disk", "critical"))
        yield* after("59 seconds")
        yield* webhook.has()
        // The clock was ahead until a restart, after which agents have two minutes to report recoveries.
        yield* after("75 seconds")
        yield* webhook.has("firing critical a/disk")
        yield* after("12 minutes")
        yield* messenger.has()
        // Steps begin at the end of that time, under which the first one was due.
        yield* after("200 seconds")
        yield* messenger.has("firing critical a/disk")
        yield* after("13 minutes")
        yield* webhook.has("firing critical a/disk")
        yield* after("2 minutes")
        yield* webhook.has("firing critical a/disk", "firing critical a/disk")
      }),
    ),
  )

  it.effect(
    "a reminder follows the attempt before it as usual",
    timeline(({ after, follows, reports, webhook, whileAhead }) =>
      Effect.gen(function* () {
        yield* follows({ routes: [{ remind: "30m", to: ["webhook"] }] })
        yield* whileAhead(reports("disk", "critical"))
        yield* after("29 minutes")
        yield* webhook.has("firing critical a/disk")
        yield* after("90 seconds")
        yield* webhook.has("firing critical a/disk", "firing critical a/disk")
      }),
    ),
  )

  it.effect(
    "an alert is repeated, and an ended one for five minutes",
    timeline(({ after, reports, service, whileAhead }) =>
      Effect.gen(function* () {
        const repeats = () =>
          service.receivers.repeats.flatMap(({ alerts }) =>
            alerts.map(
              ({ alert, incident }) => `${incident.incident_key} ${alert.ended_at ? "ended" : "fires"}`,
            ),
          )
        yield* reports("disk", "critical")
        // No notification states this end, only the alert.
        yield* whileAhead(Effect.andThen(reports("load", "critical"), reports("disk", "ok", false)))
        const before = repeats().length
        yield* after("90 seconds")
        assert.includeMembers(repeats().slice(before), ["a/disk ended", "a/load fires"])
        yield* after("6 minutes")
        assert.strictEqual(service.rows().alerts.size, 1)
      }),
    ),
  )

  it.effect(
    "a firing that was attempted for too long by that clock may have arrived, so its resolved is sent",
    timeline(({ after, reports, webhook, whileAhead }) =>
      Effect.gen(function* () {
        yield* webhook.answers(deferred)
        yield* reports("disk", "critical")
        yield* whileAhead(after("1 minute"))
        yield* webhook.answers(delivered)
        yield* after("10 minutes")
        yield* webhook.has()
        yield* reports("disk", "ok")
        yield* webhook.has("resolved critical a/disk")
      }),
    ),
  )

  it.effect(
    "an alert whose repeat a killed process was sending is repeated",
    timeline(({ after, front, opensAnother, reports, service, whileAhead }) =>
      Effect.gen(function* () {
        yield* reports("disk", "critical")
        service.receivers.answerRepeatsWith(hanging, { client: "first" })
        yield* whileAhead(after("1 minute"))
        const clients = () => service.receivers.repeats.map(({ client }) => client)
        assert.deepStrictEqual(clients(), ["first"])
        front.faults.isUnreachable = true
        yield* opensAnother
        yield* after("90 seconds")
        assert.include(clients(), "second")
      }),
    ),
  )

  it.effect(
    "a hold ends within minutes of a change of labels",
    timeline(({ after, front, reports, webhook, whileAhead }) =>
      Effect.gen(function* () {
        const labelled = (env: string) =>
          Effect.orDie(front.ingest.heartbeat(keyOf(AGENT), heartbeatOf(AGENT, { labels: { env } })))
        yield* labelled("test")
        const silenced = front.operations.silence({
          matchers: [{ field: "label:env", op: "=", value: "test" }],
          comment: "c",
          for: Duration.days(2),
        })
        yield* Effect.orDie(silenced)
        yield* reports("disk", "critical")
        yield* whileAhead(Effect.void)
        yield* after("1 minute")
        yield* webhook.has()
        yield* labelled("prod")
        yield* after("6 minutes")
        yield* webhook.has("firing critical a/disk")
      }),
    ),
  )
})
