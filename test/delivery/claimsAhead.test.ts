import { assert, describe, it } from "@effect/vitest"
import { claimSize, MOST_AHEAD } from "@tocsin/core/heart/notifications/deliverItems"
import type { OutboxRecord } from "@tocsin/core/heart/model/OutboxRecord"
import { Duration, Effect } from "effect"
import { TestClock } from "effect/testing"
import * as fc from "fast-check"
import { AGENT, criticalChecks, enroll, report, type Result } from "../service/agents.ts"
import { type Answer, deferred, delivered, refused, throwing } from "../service/Receivers.ts"
import { openService, whileTimePasses } from "../service/Service.ts"
import { settled } from "../service/settled.ts"

const CONCURRENCY = 4
const CHECKS = 60
const AT_ONCE = 8

/** The receiver hangs until the attempt times out. */
const slow: Answer = { ...deferred, answeringMillis: 15_000 }

/** A receiver that refuses so many messages, takes the next ones at once, and then gives this answer. */
const openUntil = Effect.fnUntraced(function* (first: number, answer: Answer, refusals = 0) {
  let seen = -refusals
  const most = { atOnce: 0 }
  const service = yield* openService({
    notifiers: ["webhook"],
    answerTo: () => (seen++ < 0 ? refused : seen <= first ? delivered : answer),
    onAttempt: () => {
      const running = service.receivers.attempts.filter(({ endedAt }) => endedAt === undefined)
      most.atOnce = Math.max(most.atOnce, running.length + 1)
    },
  })
  const process = yield* service.open("a", { concurrency: CONCURRENCY })
  yield* enroll(process, AGENT)
  const reports = (results: ReadonlyArray<Result>) =>
    Effect.andThen(Effect.orDie(report(process, results)), settled)
  const count = (is: (item: OutboxRecord) => boolean) =>
    Array.from(service.rows().outbox.values()).filter(is).length
  return { ...service, process, most, reports, count }
})

const isUntouched = (item: OutboxRecord): boolean =>
  item.state === "pending" &&
  item.attempts === 0 &&
  item.first_attempted_at === undefined &&
  item.next_attempt_at === item.age_starts_at

describe("claimed ahead", () => {
  it("is what the receiver takes in a second", () => {
    const pace = fc.record({
      concurrency: fc.integer({ min: 1, max: 200 }),
      free: fc.integer({ min: 1, max: 200 }),
      millis: fc.option(fc.nat(20_000), { nil: undefined }),
    })
    fc.assert(
      fc.property(pace, ({ concurrency, free, millis }) => {
        const slowest = millis === undefined ? undefined : Duration.millis(millis)
        const ahead = claimSize({ concurrency, free, slowest }) - free
        const inASecond =
          millis === undefined || millis > 1_000 ? 0 : (concurrency * 1_000) / Math.max(1, millis)
        assert.isAtLeast(ahead, 0)
        assert.isAtMost(ahead, Math.min(MOST_AHEAD, inASecond))
        if (inASecond >= concurrency) assert.isAtLeast(ahead, Math.min(MOST_AHEAD, concurrency))
      }),
    )
  })

  it.effect("are more items than are sent at the same time, each sent once", () =>
    Effect.gen(function* () {
      const { count, most, receivers, reports } = yield* openUntil(Infinity, delivered)
      yield* reports(criticalChecks(CHECKS))
      assert.strictEqual(
        count(({ state }) => state === "sent"),
        CHECKS,
      )
      assert.strictEqual(receivers.arrivals.length, CHECKS)
      assert.isAtMost(most.atOnce, CONCURRENCY)
    }),
  )

  it.effect.each([
    ["each sent once", delivered, 1],
    ["each sent again, if the notifier throws", throwing, 2],
  ] as const)("are attempted at once where none can wait, %s", ([, answer, attempts]) =>
    Effect.gen(function* () {
      const service = yield* openService({ notifiers: ["webhook"], sendsAll: true })
      const process = yield* service.open("a", { concurrency: CHECKS })
      yield* enroll(process, AGENT)
      let settlements = 0
      yield* process.commits.listen({
        committed: ({ isOutboxChanged }) => void (settlements += Number(isOutboxChanged)),
      })
      service.receivers.answerWith(answer)
      yield* Effect.orDie(report(process, criticalChecks(CHECKS)))
      yield* settled
      // The firings, their claim, and their results, singly where it throws.
      if (answer === delivered) assert.strictEqual(settlements, 3)
      service.receivers.answerWith(delivered)
      yield* service.passes("1 minute")
      const items = Array.from(service.rows().outbox.values())
      assert.deepStrictEqual(new Set(items.map(({ state }) => state)), new Set(["sent"]))
      assert.deepStrictEqual(new Set(items.map((item) => item.attempts)), new Set([attempts]))
      assert.strictEqual(service.receivers.arrivals.length, CHECKS)
    }),
  )

  it.effect("are attempted at once, and then singly, if the notifier throws over one of them", () =>
    Effect.gen(function* () {
      const seen = new Set<string>()
      const service = yield* openService({
        notifiers: ["webhook"],
        sendsAll: true,
        answerTo: ({ id }) => (Array.from(seen.add(id)).indexOf(id) === 4 ? throwing : delivered),
      })
      const process = yield* service.open("a", { concurrency: CHECKS })
      yield* enroll(process, AGENT)
      yield* Effect.orDie(report(process, criticalChecks(CHECKS)))
      yield* settled
      const states = Array.from(service.rows().outbox.values(), ({ state }) => state)
      assert.lengthOf(
        states.filter((state) => state === "sent"),
        CHECKS - 1,
      )
      assert.include(states, "retry")
    }),
  )

  it.effect("goes back as it was, once the receiver has become slow", () =>
    Effect.gen(function* () {
      const { count, most, receivers, reports } = yield* openUntil(AT_ONCE, slow)
      yield* reports(criticalChecks(CHECKS))
      assert.isAbove(
        count(({ state }) => state === "sending"),
        CONCURRENCY,
      )
      yield* TestClock.adjust("5 seconds")
      yield* settled
      assert.strictEqual(
        count(({ state }) => state === "sending"),
        CONCURRENCY,
      )
      assert.strictEqual(count(isUntouched), CHECKS - AT_ONCE - CONCURRENCY)
      yield* TestClock.adjust("11 seconds")
      yield* settled
      // Those that timed out, and those that are being sent now.
      assert.isAtMost(
        count((item) => item.state !== "sent" && !isUntouched(item)),
        2 * CONCURRENCY,
      )
      assert.isAtMost(most.atOnce, CONCURRENCY)
      assert.strictEqual(receivers.arrivals.length, AT_ONCE)
    }),
  )

  it.effect("is sent once, and no more at a time, if reloads remove the receiver and bring it back", () =>
    Effect.gen(function* () {
      const { count, most, passes, process, receivers, reports } = yield* openUntil(AT_ONCE, {
        ...delivered,
        answeringMillis: 10_000,
      })
      yield* reports(criticalChecks(CHECKS))
      yield* Effect.andThen(process.sendsTo(), settled)
      yield* Effect.andThen(process.sendsTo("webhook"), settled)
      yield* passes("5 minutes")
      yield* settled
      assert.strictEqual(
        count(({ state }) => state === "sent"),
        CHECKS,
      )
      assert.isAtMost(most.atOnce, CONCURRENCY)
      assert.strictEqual(receivers.arrivals.length, CHECKS)
    }),
  )

  it.effect("goes back when the service stops", () =>
    Effect.gen(function* () {
      const { count, process, reports } = yield* openUntil(AT_ONCE, slow)
      yield* reports(criticalChecks(CHECKS))
      yield* whileTimePasses(process.close)
      assert.strictEqual(
        count(({ state }) => state === "retry"),
        CONCURRENCY,
      )
      assert.strictEqual(count(isUntouched), CHECKS - AT_ONCE - CONCURRENCY)
    }),
  )

  it.effect.each([false, true])(
    "goes back as it was replayed; its agent is deleted meanwhile: %s",
    (isDeleted) =>
      Effect.gen(function* () {
        const { count, process, reports, rows } = yield* openUntil(AT_ONCE, slow, CHECKS)
        yield* reports(criticalChecks(CHECKS))
        yield* Effect.andThen(process.sendsTo(), settled)
        yield* TestClock.adjust("1 second")
        yield* Effect.forEach(Array.from(rows().outbox.values()), ({ id }) => process.operations.replay(id))
        yield* Effect.andThen(process.sendsTo("webhook"), settled)
        const ahead = count(({ state }) => state === "sending") - CONCURRENCY
        assert.isAbove(ahead, 0)
        const waiting = count(({ state }) => state === "pending")
        if (isDeleted) yield* process.admission.remove(AGENT)
        yield* whileTimePasses(process.close)
        const isBack = (item: OutboxRecord) =>
          item.state === "pending" && item.first_attempted_at !== undefined
        assert.strictEqual(count(isBack), isDeleted ? 0 : waiting + ahead)
      }),
  )

  it.effect("is discarded instead where its incident has resolved, with the news of that", () =>
    Effect.gen(function* () {
      const { count, process, reports, rows } = yield* openUntil(AT_ONCE, slow)
      yield* reports(criticalChecks(CHECKS))
      yield* reports(criticalChecks(CHECKS).map((one) => ({ ...one, status: "ok" as const })))
      yield* whileTimePasses(process.close)
      assert.strictEqual(count(isUntouched), AT_ONCE + CONCURRENCY)
      const discarded = Array.from(rows().outbox.values()).filter(({ state }) => state === "discarded")
      assert.deepStrictEqual(
        new Set(discarded.map(({ event_type }) => event_type)),
        new Set(["firing", "resolved"]),
      )
      assert.strictEqual(discarded.length, 2 * (CHECKS - AT_ONCE - CONCURRENCY))
      for (const { discarded_because, event_type } of discarded)
        assert.strictEqual(
          discarded_because,
          event_type === "firing" ? "incident_resolved" : "firing_refused",
        )
    }),
  )
})
