import * as Instant from "@tocsin/core/contract/Instant"
import type { CheckStatus } from "@tocsin/core/contract/Status"
import { assert, describe, it } from "@effect/vitest"
import { Arbitrary, Duration, Effect } from "effect"
import { TestClock } from "effect/testing"
import { propertyRuns } from "@tocsin/testing/propertyRuns"
import { boolean, integer, oneOf, weighted } from "../rules/arbitraries.ts"
import { type Answer, deferred, delivered, hanging, makeReceivers } from "./Receivers.ts"
import { AGENT, enroll, report, type Result } from "./reports.ts"
import { firingAtRouter, firingByRights } from "./Router.ts"
import { settled } from "./settled.ts"
import { openSite, type Site, whileTimePasses } from "./Site.ts"

const open = Effect.fnUntraced(function* (processes = 1) {
  const router: { answer: Answer; answerToAlerts: Answer; slowly: Answer | undefined } = {
    answer: delivered,
    answerToAlerts: delivered,
    /** The answer to the first process, where it is another one. */
    slowly: undefined,
  }
  const receivers = makeReceivers({
    answerTo: () => router.answer,
    answerToAlerts: (_, client) =>
      (client === "process 1" ? router.slowly : undefined) ?? router.answerToAlerts,
  })
  const site = yield* openSite({ receivers, notifiers: ["alert_router"], hints: true })
  const front = yield* site.open("process 1")
  for (let number = 2; number <= processes; number++) yield* site.open(`process ${number}`)
  yield* enroll(front, AGENT)
  yield* settled
  const say = (status: CheckStatus, more: Partial<Result> = {}) =>
    Effect.andThen(report(front, [{ check: "disk", status, ...more }]), settled)
  return { site, front, receivers, router, say }
})

/** What the router is told again, one line each: when, in seconds since `start`, which severity, and whether as ended. */
const resent = ({ receivers }: Site, start: Instant.Instant): ReadonlyArray<string> =>
  receivers.resendings.flatMap(({ at, alerts }) =>
    alerts.map(
      ({ alert }) =>
        `${Number(at - start) / 1_000_000} ${alert.severity} ${alert.ended_at === undefined ? "fires" : "ended"}`,
    ),
  )

const knows = Effect.fnUntraced(function* (
  site: Site,
  expected: ReadonlyArray<string> = firingByRights(site),
) {
  assert.deepStrictEqual(firingAtRouter(site.receivers, yield* Instant.now), expected)
})

describe("an alert", () => {
  it.effect("is sent again every minute for as long as it fires, and for five minutes after it ended", () =>
    Effect.gen(function* () {
      const { site, say } = yield* open()
      const start = yield* Instant.now
      yield* say("critical")
      yield* TestClock.adjust(Duration.seconds(150))
      yield* say("ok")
      yield* TestClock.adjust(Duration.minutes(20))
      assert.deepStrictEqual(resent(site, start), [
        "60 critical fires",
        "120 critical fires",
        "150 critical ended",
        "210 critical ended",
        "270 critical ended",
        "330 critical ended",
        "390 critical ended",
        "450 critical ended",
      ])
      assert.strictEqual(site.watch.alerts.size, 0)
    }),
  )

  it.effect(
    "of another severity takes the place of the old one at once, upwards and downwards, loud or silent",
    () =>
      Effect.gen(function* () {
        const { site, say } = yield* open()
        const statuses = [
          "warning",
          "critical",
          "warning",
          "unknown",
          "warning",
          "critical",
          "unknown",
        ] as const
        for (const status of statuses) {
          for (const loud of [true, false]) {
            yield* say(status, { loud: loud || site.watch.alerts.size === 0 })
            yield* knows(site, [`a/disk of a/disk is ${status}`])
            yield* TestClock.adjust(Duration.seconds(17))
            yield* knows(site, [`a/disk of a/disk is ${status}`])
          }
        }
        yield* TestClock.adjust(Duration.minutes(10))
        assert.strictEqual(site.watch.alerts.size, 1)
      }),
  )

  it.effect("ends with a silent resolution too", () =>
    Effect.gen(function* () {
      const { site, receivers, say } = yield* open()
      yield* say("critical")
      yield* say("ok", { loud: false })
      yield* knows(site, [])
      assert.strictEqual(receivers.arrivals.length, 1)
    }),
  )

  it.effect("is none of an incident that the router was not told of", () =>
    Effect.gen(function* () {
      const { site, receivers, say } = yield* open()
      yield* say("critical", { loud: false })
      yield* say("unknown", { loud: false })
      yield* TestClock.adjust(Duration.minutes(3))
      assert.deepStrictEqual(
        [receivers.arrivals.length, receivers.resendings.length, site.watch.alerts.size],
        [0, 0, 0],
      )
    }),
  )

  it.effect("that was told after its incident had ended is ended at once", () =>
    Effect.gen(function* () {
      const { site, router, say } = yield* open()
      router.answer = { ...delivered, sendingMillis: 1_000, answeringMillis: 2_000 }
      yield* say("critical")
      yield* TestClock.adjust(1_500)
      yield* say("ok", { loud: false })
      yield* TestClock.adjust(1_500)
      yield* knows(site, [])
    }),
  )

  it.effect("of an incident is not ended by the end of the one before it", () =>
    Effect.gen(function* () {
      const { site, say } = yield* open()
      for (let times = 0; times < 4; times++) {
        yield* say("critical")
        yield* TestClock.adjust(Duration.seconds(35))
        yield* say("ok")
        yield* TestClock.adjust(Duration.seconds(50))
      }
      yield* say("critical")
      for (let seconds = 0; seconds < 400; seconds += 5) {
        yield* TestClock.adjust(Duration.seconds(5))
        yield* knows(site, ["a/disk of a/disk is critical"])
      }
      assert.strictEqual(site.watch.alerts.size, 1)
    }),
  )
})

/** Whatever becomes of two checks, alone or in one incident. */
const step = weighted<{ readonly results: ReadonlyArray<Result> } | { readonly seconds: number } | "remove">(
  [
    6,
    Arbitrary.map(
      Arbitrary.all({
        check: oneOf("disk", "load"),
        status: oneOf("ok", "critical", "warning", "unknown"),
        loud: boolean,
        key: oneOf(undefined, "shared"),
      }),
      (result) => ({ results: [result] }),
    ),
  ],
  [5, Arbitrary.map(oneOf(0.5, 20, 61, 130, 301), (seconds) => ({ seconds }))],
  [1, Arbitrary.Constant("remove" as const)],
)

describe("the alert router", () => {
  it.effect.prop(
    "has firing at any time what fires by rights, and nothing else",
    { steps: Arbitrary.array(step, { minLength: 3, maxLength: 30 }), processes: integer(1, 3) },
    ({ steps, processes }) =>
      Effect.gen(function* () {
        const { site, front } = yield* open(processes)
        for (const one of steps) {
          if (one === "remove") {
            yield* front.admission.remove(AGENT)
            yield* enroll(front, AGENT)
          } else if ("results" in one) yield* report(front, one.results)
          else yield* TestClock.adjust(Duration.seconds(one.seconds))
          yield* settled
          yield* knows(site)
        }
        yield* TestClock.adjust(Duration.minutes(8))
        yield* knows(site)
        const open_ = Array.from(site.watch.incidents.values()).filter(
          (incident) => incident.state === "open",
        )
        assert.isAtMost(site.watch.alerts.size, open_.length)
      }),
    { arbitrary: { runs: propertyRuns(100), size: 30, maxShrinks: 500 } },
  )

  it.effect("hears each alert from one of several processes, once a minute, however slow it is", () =>
    Effect.gen(function* () {
      const { receivers, router, front } = yield* open(3)
      const checks = Array.from({ length: 120 }, (_, at) => ({
        check: `check-${at}`,
        status: "critical" as const,
      }))
      yield* report(front, checks)
      yield* settled
      // Each post takes ten seconds, so that one minute later is seventy seconds after the last one.
      router.answerToAlerts = { ...delivered, sendingMillis: 5_000, answeringMillis: 5_000 }
      yield* TestClock.adjust(Duration.seconds(60 + 9 * 70 + 11))
      const posts = receivers.resendings.flatMap(({ alerts }) => alerts.map(({ alert }) => alert.incident_id))
      assert.strictEqual(posts.length, 10 * checks.length)
      assert.isTrue(receivers.resendings.every(({ alerts }) => alerts.length <= 100))
    }),
  )

  it.effect("that fails is tried again, and told all that still counts", () =>
    Effect.gen(function* () {
      const { site, router, receivers, say } = yield* open()
      yield* say("critical")
      router.answerToAlerts = deferred
      yield* TestClock.adjust(Duration.minutes(20))
      yield* knows(site, [])
      assert.isAbove(receivers.resendings.length, 8)
      router.answerToAlerts = delivered
      yield* TestClock.adjust(Duration.minutes(1))
      yield* knows(site, ["a/disk of a/disk is critical"])
      router.answerToAlerts = deferred
      yield* say("ok")
      yield* TestClock.adjust(Duration.minutes(20))
      router.answerToAlerts = delivered
      // However long it was away, it is told of the end.
      yield* TestClock.adjust(Duration.minutes(1))
      assert.isTrue(
        receivers.resendings.some(
          ({ alerts, answer }) => answer.reaches && alerts.some(({ alert }) => alert.ended_at !== undefined),
        ),
      )
      assert.strictEqual(site.watch.alerts.size, 0)
    }),
  )

  it.effect("whose notifier has a mistake in it is tried again", () =>
    Effect.gen(function* () {
      const { site, router, say } = yield* open()
      yield* say("critical")
      router.answerToAlerts = { ...deferred, outcome: "throws" }
      yield* TestClock.adjust(Duration.minutes(6))
      router.answerToAlerts = delivered
      yield* TestClock.adjust(Duration.minutes(1))
      yield* knows(site, ["a/disk of a/disk is critical"])
    }),
  )

  it.effect("is told by another process at once what one that stops has not told", () =>
    Effect.gen(function* () {
      const { site, front, router, receivers, say } = yield* open()
      yield* say("critical")
      router.answerToAlerts = hanging
      yield* TestClock.adjust(Duration.minutes(1))
      yield* site.open("second")
      router.answerToAlerts = delivered
      yield* whileTimePasses(front.close)
      yield* TestClock.adjust(Duration.seconds(15))
      assert.deepStrictEqual(
        receivers.resendings.map(({ client, answer }) => `${client} ${answer.outcome}`),
        ["process 1 hangs", "second delivered"],
      )
    }),
  )

  it.effect("is told of a change that comes while it is being told", () =>
    Effect.gen(function* () {
      const { site, router, say } = yield* open()
      yield* say("critical")
      router.answerToAlerts = { ...delivered, sendingMillis: 1_000, answeringMillis: 1_000 }
      yield* TestClock.adjust(Duration.seconds(61))
      // Critical was told as firing, and is not settled yet.
      yield* say("warning")
      yield* TestClock.adjust(Duration.seconds(4))
      yield* knows(site, ["a/disk of a/disk is warning"])
    }),
  )

  it.effect("is told of trouble that is back while its end is told for the last time", () =>
    Effect.gen(function* () {
      const { site, router, receivers, say } = yield* open()
      yield* say("critical")
      router.answerToAlerts = { ...delivered, sendingMillis: 1_000, answeringMillis: 1_000 }
      yield* say("warning")
      // Each post takes two seconds: the first that comes five minutes after the end or later is the last.
      yield* TestClock.adjust(Duration.seconds(5 * 62 + 1))
      assert.isTrue(receivers.resendings.at(-1)?.alerts.some(({ alert }) => alert.ended_at !== undefined))
      yield* say("critical")
      yield* TestClock.adjust(Duration.seconds(5))
      yield* knows(site, ["a/disk of a/disk is critical"])
      yield* TestClock.adjust(Duration.minutes(6))
      yield* knows(site, ["a/disk of a/disk is critical"])
    }),
  )

  it.effect("is not told of trouble that is back before it was told of its end by a slower process", () =>
    Effect.gen(function* () {
      const { site, router, say } = yield* open()
      const other = yield* site.open("process 2")
      yield* say("critical")
      router.slowly = { ...delivered, sendingMillis: 3_000 }
      yield* say("warning")
      yield* TestClock.adjust(Duration.seconds(1))
      yield* report(other, [{ check: "disk", status: "critical" }])
      yield* settled
      yield* TestClock.adjust(Duration.seconds(20))
      yield* knows(site, ["a/disk of a/disk is critical"])
    }),
  )

  it.effect("is told of the present severity where another one arrived late", () =>
    Effect.gen(function* () {
      const { site, router, say } = yield* open()
      router.answer = { ...delivered, sendingMillis: 2_000 }
      yield* say("critical")
      yield* TestClock.adjust(Duration.seconds(1))
      yield* say("warning", { loud: false })
      yield* TestClock.adjust(Duration.seconds(1))
      yield* knows(site, ["a/disk of a/disk is warning"])
    }),
  )
})
