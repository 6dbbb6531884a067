import { recordResults } from "@tocsin/core/heart/notifications/recordResults"
import { claimItems } from "@tocsin/testing/claimItems"
import * as Instant from "@tocsin/contract/formats/Instant"
import type { CheckStatus } from "@tocsin/contract/formats/Status"
import { assert, describe, it } from "@effect/vitest"
import { Arbitrary, Duration, Effect } from "effect"
import { propertyRuns } from "@tocsin/testing/propertyRuns"
import { boolean, integer, oneOf, weighted } from "../properties/arbitraries.ts"
import { AGENT, criticalChecks, enroll, report, type Result } from "../service/agents.ts"
import {
  type Answer,
  deferred,
  delivered,
  hanging,
  type ReceiversOptions,
  throwing,
} from "../service/Receivers.ts"
import { type ProcessOptions, type Service, whileTimePasses } from "../service/Service.ts"
import { openTimeline } from "../service/Timeline.ts"
import { expectedAtRouter, firingAtRouter } from "./Router.ts"
import { testsFrom } from "@tocsin/testing/testsFrom"

const CRITICAL = "a/disk of a/disk is critical"
const WARNING = "a/disk of a/disk is warning"

/** A timeline with an alert router, and the words for what repeats to it. */
const openRouted = Effect.fnUntraced(function* (
  processes = 1,
  process: ProcessOptions = {},
  options: ReceiversOptions = {},
) {
  const timeline = yield* openTimeline({ ...options, notifiers: ["alert_router"], hints: true, process })
  const { receivers, open, rows } = timeline.service
  for (let number = 2; number <= processes; number++) yield* open(`process ${number}`)
  const firesIn = Effect.fnUntraced(function* (expected: ReadonlyArray<string>) {
    assert.deepStrictEqual(firingAtRouter(receivers, yield* Instant.now), expected)
  })
  const router = {
    ...timeline.alertRouter,
    /** How it takes repeated alerts from now on. */
    answersRepeats: (answer: Answer, selection?: { readonly client: string }) =>
      Effect.sync(() => receivers.answerRepeatsWith(answer, selection)),
    /** Asserts which alerts fire there now. */
    fires: (...alerts: ReadonlyArray<string>) => firesIn(alerts),
    firesWhatItShould: Effect.suspend(() => firesIn(expectedAtRouter(timeline.service))),
    /** Asserts how many alerts the service still repeats. */
    isRepeated: (count: number) => Effect.sync(() => assert.strictEqual(rows().alerts.size, count)),
  }
  return { ...timeline, router, receivers }
})

/** The repeats, one line each: seconds since `start`, severity, and whether the alert fires. */
const repeatsSince = ({ receivers }: Service, start: Instant.Instant): ReadonlyArray<string> =>
  receivers.repeats.flatMap(({ at, alerts }) =>
    alerts.map(
      ({ alert }) =>
        `${Number(at - start) / 1_000_000} ${alert.severity} ${alert.ended_at === undefined ? "fires" : "ended"}`,
    ),
  )

const takes = (sendingMillis: number, answeringMillis = 0): Answer => ({
  ...delivered,
  sendingMillis,
  answeringMillis,
})

const test = testsFrom(openRouted(), it.effect)

describe("an alert", () => {
  test("repeats every minute while it fires, and for five minutes after it ended", function* (opened) {
    const { service, disk, after, router } = opened
    const start = yield* Instant.now
    yield* disk.turns("critical")
    yield* after("150 seconds")
    yield* disk.turns("ok")
    yield* after("20 minutes")
    assert.deepStrictEqual(repeatsSince(service, start), [
      "60 critical fires",
      "120 critical fires",
      "150 critical ended",
      "210 critical ended",
      "270 critical ended",
      "330 critical ended",
      "390 critical ended",
      "450 critical ended",
    ])
    yield* router.isRepeated(0)
  })

  it.effect("is sent by its notifications alone to a receiver that keeps it", () =>
    Effect.gen(function* () {
      const { service, disk, after, router } = yield* openRouted(1, {}, { remembers: true })
      const start = yield* Instant.now
      yield* disk.turns("warning")
      yield* after("150 seconds")
      yield* disk.turns("critical")
      yield* after("150 seconds")
      yield* disk.turns("warning")
      yield* after("150 seconds")
      yield* disk.turns("ok")
      yield* after("20 minutes")
      yield* router.has("firing warning a/disk", "firing critical a/disk", "resolved warning a/disk")
      assert.deepStrictEqual(repeatsSince(service, start), [])
      yield* router.isRepeated(0)
    }),
  )

  it.effect("is sent as ended once to a receiver that keeps it, by a silent resolution", () =>
    Effect.gen(function* () {
      const { service, disk, after, router } = yield* openRouted(1, {}, { remembers: true })
      const start = yield* Instant.now
      yield* disk.turns("warning")
      yield* after("10 seconds")
      yield* disk.turns("critical")
      yield* after("80 seconds")
      yield* router.answersRepeats(deferred)
      yield* disk.turns("ok", { loud: false })
      yield* after("5 seconds")
      yield* router.answersRepeats(delivered)
      yield* after("20 minutes")
      assert.deepStrictEqual(repeatsSince(service, start), ["90 critical ended", "150 critical ended"])
      yield* router.has("firing warning a/disk", "firing critical a/disk")
      yield* router.isRepeated(0)
    }),
  )

  it.effect("is sent as ended to a receiver that keeps it, after a day in which no replica had it", () =>
    Effect.gen(function* () {
      const { service, disk, after, process, router } = yield* openRouted(
        1,
        { keepsHouse: true },
        { remembers: true },
      )
      yield* disk.turns("critical")
      yield* after("10 seconds")
      yield* process.sendsTo()
      yield* disk.turns("ok")
      // Another server has one attempt at the resolution, and ends.
      const lease = Duration.minutes(1)
      const { commits } = process
      const claimed = yield* claimItems(commits, { receivers: ["alert_router"], limit: 5, lease })
      assert.lengthOf(claimed, 1)
      for (const { claim } of claimed)
        yield* commits.transact(
          recordResults([{ claim, result: { outcome: "deferred", error: "503" }, random: 0 }]),
        )
      yield* after("25 hours")
      const start = yield* Instant.now
      yield* process.sendsTo("alert_router")
      yield* after("1 minute")
      assert.deepStrictEqual(
        repeatsSince(service, start).map((line) => line.replace(/^\d+ /, "")),
        ["critical ended"],
      )
      yield* router.isRepeated(0)
    }),
  )

  it.effect("is sent as ended in an attempt of its own, so that none waits for all others", () =>
    Effect.gen(function* () {
      const { after, process, receivers, router } = yield* openRouted(1, {}, { remembers: true })
      yield* enroll(process, AGENT)
      const checks = ["cpu", "load", "swap"]
      yield* report(
        process,
        checks.map((check) => ({ check, status: "critical" })),
      )
      yield* after("10 seconds")
      yield* router.answersRepeats(takes(0, 14_000))
      yield* report(
        process,
        checks.map((check) => ({ check, status: "ok", loud: false })),
      )
      yield* after("16 seconds")
      assert.deepStrictEqual(
        receivers.repeats.map(({ alerts }) => alerts.length),
        [1, 1],
      )
      yield* router.isRepeated(2)
      yield* after("1 minute")
      assert.strictEqual(receivers.repeats.length, 3)
      yield* router.isRepeated(0)
    }),
  )

  test("rests while reloads have removed its receiver", function* ({ service, disk, after, process }) {
    const start = yield* Instant.now
    yield* disk.turns("critical")
    yield* after("70 seconds")
    yield* process.sendsTo()
    yield* after("200 seconds")
    yield* process.sendsTo("alert_router")
    yield* after("70 seconds")
    assert.deepStrictEqual(repeatsSince(service, start), [
      "60 critical fires",
      "270 critical fires",
      "330 critical fires",
    ])
  })

  test("replaces the alert of another severity immediately, with and without a notification", function* ({
    service,
    disk,
    after,
    router,
  }) {
    const statuses: ReadonlyArray<CheckStatus> = [
      "warning",
      "critical",
      "warning",
      "unknown",
      "warning",
      "critical",
      "unknown",
    ]
    for (const status of statuses) {
      for (const loud of [true, false]) {
        yield* disk.turns(status, { loud: loud || service.rows().alerts.size === 0 })
        yield* router.fires(`a/disk of a/disk is ${status}`)
        yield* after("17 seconds")
        yield* router.fires(`a/disk of a/disk is ${status}`)
      }
    }
    yield* after("10 minutes")
    yield* router.isRepeated(1)
  })

  test("ends with a silent resolution", function* ({ disk, router }) {
    yield* disk.turns("critical")
    yield* disk.turns("ok", { loud: false })
    yield* router.fires()
    yield* router.has("firing critical a/disk")
  })

  test("does not exist for a silent incident", function* ({ receivers, disk, after, router }) {
    yield* disk.turns("critical", { loud: false })
    yield* disk.turns("unknown", { loud: false })
    yield* after("3 minutes")
    yield* router.has()
    yield* router.isRepeated(0)
    assert.strictEqual(receivers.repeats.length, 0)
  })

  test("ends immediately if it arrives after its incident resolved", function* (opened) {
    const { service, disk, after, router } = opened
    yield* router.answers(takes(1_000, 2_000))
    yield* disk.turns("critical")
    yield* after("1500 millis")
    yield* disk.turns("ok", { loud: false })
    yield* after("1500 millis")
    yield* router.fires()
    // Its end is that of the incident, not the moment at which it arrived.
    const { alerts, incidents } = service.rows()
    assert.deepStrictEqual(
      Array.from(alerts.values(), ({ ended_at }) => ended_at),
      Array.from(incidents.values(), ({ resolved_at }) => resolved_at),
    )
  })

  test("survives an end of the incident before it that had to be tried again", function* (opened) {
    const { disk, after, router } = opened
    yield* disk.turns("critical")
    yield* router.answers(deferred)
    yield* disk.turns("ok")
    yield* router.answers(delivered)
    yield* disk.turns("critical")
    yield* after("10 seconds")
    yield* router.has("firing critical a/disk", "firing critical a/disk", "resolved critical a/disk")
    yield* router.fires(CRITICAL)
  })

  test("survives an end of the incident before it that arrives during its own attempt", function* (opened) {
    const { disk, after, router } = opened
    yield* disk.turns("critical")
    yield* router.answers(takes(1_000))
    yield* disk.turns("ok")
    yield* router.answers(takes(0, 2_000))
    yield* disk.turns("critical")
    yield* after("3 seconds")
    yield* router.has("firing critical a/disk", "firing critical a/disk", "resolved critical a/disk")
    yield* router.fires(CRITICAL)
  })

  test("survives it also while a repeat is under way that began before both", function* (opened) {
    const { disk, after, router } = opened
    yield* disk.turns("critical")
    yield* router.answersRepeats(takes(0, 10_000))
    yield* after("61 seconds")
    yield* router.answers(takes(1_000))
    yield* disk.turns("ok")
    yield* router.answers(takes(0, 2_000))
    yield* disk.turns("critical")
    yield* after("12 seconds")
    yield* router.fires(CRITICAL)
  })

  test("survives an end of the incident before it that arrives during a repeat", function* (opened) {
    const { disk, after, router } = opened
    yield* disk.turns("critical")
    yield* router.answers(deferred)
    yield* disk.turns("ok")
    yield* router.answers(delivered)
    yield* disk.turns("critical")
    // The next attempt begins after 4 to 6 seconds.
    yield* router.answers(takes(57_500))
    yield* router.answersRepeats(takes(0, 10_000))
    yield* after("71 seconds")
    yield* router.fires(CRITICAL)
  })

  it.effect("is repeated after its claim if it ends and fires again meanwhile, and not beside that", () =>
    Effect.gen(function* () {
      const { service, disk, after, router } = yield* openRouted(2)
      const start = yield* Instant.now
      yield* disk.turns("critical")
      yield* router.answersRepeats(takes(0, 10_000))
      yield* after("62 seconds")
      yield* disk.turns("warning", { loud: false })
      yield* disk.turns("critical", { loud: false })
      yield* after("30 seconds")
      const fires = repeatsSince(service, start).filter((line) => line.endsWith("critical fires"))
      assert.deepStrictEqual(fires, ["60 critical fires", "70 critical fires"])
    }),
  )

  test("still ends when another check has opened a newer incident with the same key", function* (opened) {
    const { agent, after, router } = opened
    yield* agent().reports({ check: "disk", status: "critical", key: "db" })
    yield* router.answersRepeats(deferred)
    yield* agent().reports({ check: "disk", status: "ok", key: "db", loud: false })
    yield* router.fires("db of a/disk is critical")
    yield* agent().reports({ check: "load", status: "critical", key: "db" })
    yield* router.answersRepeats(delivered)
    yield* after("61 seconds")
    yield* router.fires("db of a/load is critical")
  })

  test("survives the end of the incident before it", function* ({ disk, after, router }) {
    for (let times = 0; times < 4; times++) {
      yield* disk.turns("critical")
      yield* after("35 seconds")
      yield* disk.turns("ok")
      yield* after("50 seconds")
    }
    yield* disk.turns("critical")
    for (let seconds = 0; seconds < 400; seconds += 5) {
      yield* after("5 seconds")
      yield* router.fires(CRITICAL)
    }
    yield* router.isRepeated(1)
  })
})

/** Results of two checks, in incidents of their own or a shared one. */
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
    "always has exactly the alerts of open incidents that it was notified of",
    { steps: Arbitrary.array(step, { minLength: 3, maxLength: 30 }), processes: integer(1, 3) },
    ({ steps, processes }) =>
      Effect.gen(function* () {
        const { service, front, agent, after, router } = yield* openRouted(processes)
        for (const one of steps) {
          if (one === "remove") {
            yield* front.admission.remove(AGENT)
            yield* enroll(front, AGENT)
            yield* after(0)
          } else if ("results" in one) yield* agent().reports(...one.results)
          else yield* after(`${one.seconds * 1_000} millis`)
          yield* router.firesWhatItShould
        }
        yield* after("8 minutes")
        yield* router.firesWhatItShould
        const { alerts, incidents } = service.rows()
        const open = Array.from(incidents.values()).filter((incident) => incident.state === "open")
        assert.isAtMost(alerts.size, open.length)
      }),
    { arbitrary: { runs: propertyRuns(100), size: 30, maxShrinks: 500 } },
  )

  it.effect("gets each alert from one of several processes, once a minute, even when it is slow", () =>
    Effect.gen(function* () {
      const { receivers, agent, after, router } = yield* openRouted(3)
      yield* agent().reports(...criticalChecks(120))
      // Each post takes ten seconds, so a repeat follows seventy seconds after the last one.
      yield* router.answersRepeats(takes(5_000, 5_000))
      yield* after(`${60 + 9 * 70 + 11} seconds`)
      const repeated = receivers.repeats.flatMap(({ alerts }) => alerts)
      assert.strictEqual(repeated.length, 10 * 120)
      assert.isTrue(receivers.repeats.every(({ alerts }) => alerts.length <= 100))
    }),
  )

  test("gets what still counts after it was down", function* ({ receivers, disk, after, router }) {
    yield* disk.turns("critical")
    yield* router.answersRepeats(deferred)
    yield* after("20 minutes")
    yield* router.fires()
    assert.isAbove(receivers.repeats.length, 8)
    yield* router.answersRepeats(delivered)
    yield* after("1 minute")
    yield* router.fires(CRITICAL)
    yield* router.answersRepeats(deferred)
    yield* disk.turns("ok")
    yield* after("20 minutes")
    yield* router.answersRepeats(delivered)
    yield* after("1 minute")
    // The end arrives, however long the router was down.
    assert.isTrue(
      receivers.repeats.some(
        ({ alerts, answer }) => answer.reaches && alerts.some(({ alert }) => alert.ended_at !== undefined),
      ),
    )
    yield* router.isRepeated(0)
  })

  it.effect("has its alerts after one failed repeat, however long a delivery's lease is", () =>
    Effect.gen(function* () {
      const { disk, after, router } = yield* openRouted(1, { lease: Duration.minutes(10) })
      yield* disk.turns("critical")
      yield* router.answersRepeats(deferred)
      yield* after("65 seconds")
      yield* router.answersRepeats(delivered)
      yield* after("4 minutes")
      yield* router.fires(CRITICAL)
    }),
  )

  test("gets its alerts again after a defect in the notifier", function* ({ disk, after, router }) {
    yield* disk.turns("critical")
    yield* router.answersRepeats(throwing)
    yield* after("6 minutes")
    yield* router.answersRepeats(delivered)
    yield* after("1 minute")
    yield* router.fires(CRITICAL)
  })

  test("gets from another process what a stopped process had not sent", function* (opened) {
    const { service, process, receivers, disk, after, router } = opened
    yield* disk.turns("critical")
    yield* router.answersRepeats(hanging)
    yield* after("1 minute")
    yield* service.open("second")
    yield* router.answersRepeats(delivered)
    yield* whileTimePasses(process.close)
    yield* after("15 seconds")
    assert.deepStrictEqual(
      receivers.repeats.map(({ client, answer }) => `${client} ${answer.outcome}`),
      ["first hangs", "second delivered"],
    )
  })

  test("gets a change that happens during a repeat", function* ({ disk, after, router }) {
    yield* disk.turns("critical")
    yield* router.answersRepeats(takes(1_000, 1_000))
    yield* after("61 seconds")
    // The repeat of critical is running.
    yield* disk.turns("warning")
    yield* after("4 seconds")
    yield* router.fires(WARNING)
  })

  test("gets a severity that returns during the last repeat of its end", function* (opened) {
    const { receivers, disk, after, router } = opened
    yield* disk.turns("critical")
    yield* router.answersRepeats(takes(1_000, 1_000))
    yield* disk.turns("warning")
    // Each post takes two seconds. The first one at least five minutes after the end is the last.
    yield* after(`${5 * 62 + 1} seconds`)
    assert.isTrue(receivers.repeats.at(-1)?.alerts.some(({ alert }) => alert.ended_at !== undefined))
    yield* disk.turns("critical")
    yield* after("5 seconds")
    yield* router.fires(CRITICAL)
    yield* after("6 minutes")
    yield* router.fires(CRITICAL)
  })

  test("keeps a severity that returned before a slower process sent its end", function* (opened) {
    const { service, disk, after, router } = opened
    const other = yield* service.open("second")
    yield* disk.turns("critical")
    yield* router.answersRepeats(takes(3_000), { client: "first" })
    yield* disk.turns("warning")
    yield* after("1 second")
    yield* report(other, [{ check: "disk", status: "critical" }])
    yield* after("20 seconds")
    yield* router.fires(CRITICAL)
  })

  test("gets the present severity after an outdated one arrived late", function* ({ disk, after, router }) {
    yield* router.answers(takes(2_000))
    yield* disk.turns("critical")
    yield* after("1 second")
    yield* disk.turns("warning", { loud: false })
    yield* after("1 second")
    yield* router.fires(WARNING)
  })
})
