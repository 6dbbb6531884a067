import { assert, describe, it } from "@effect/vitest"
import * as Instant from "@tocsin/contract/formats/Instant"
import { readPolicy } from "@tocsin/core/lists/readPolicy"
import { range } from "@tocsin/testing/numbers"
import { type Duration, Effect, Result } from "effect"
import { TestClock } from "effect/testing"
import { AGENT, criticalChecks, enroll, report } from "../service/agents.ts"
import { deferred, delivered, refused } from "../service/Receivers.ts"
import { openService } from "../service/Service.ts"
import { settled } from "../service/settled.ts"
import { drawsOf } from "../system/Draws.ts"

let starts = 0

const warnings = (count: number) =>
  criticalChecks(count).map((one) => ({ ...one, status: "warning" as const }))

/** A service of so many servers whose messenger is defined so in its policy. */
const openMessenger = Effect.fnUntraced(function* (receiver: object = {}, servers = 1) {
  const receivers = { messenger: { kind: "messenger", url_env: "CHAT", ...receiver } }
  const policy = Result.getOrThrow(readPolicy({ receivers }, []))
  const service = yield* openService({ notifiers: ["messenger"], policy })
  const process = yield* service.open("a")
  const others = yield* Effect.forEach(range(servers - 1), (n) => service.open(`other ${n}`))
  yield* enroll(process, AGENT)
  yield* settled
  const { receivers: seen } = service
  return {
    seen,
    /** Ends the last server, and starts another. */
    restarts: Effect.gen(function* () {
      yield* (others.pop() ?? process).close
      others.push(yield* service.open(`again ${(starts += 1)}`))
      yield* settled
    }),
    reports: (results: Parameters<typeof report>[1]) =>
      Effect.andThen(Effect.orDie(report(process, results)), settled),
    passes: (time: Duration.Input) => Effect.andThen(TestClock.adjust(time), settled),
    /** How many messages were single ones, and the sizes of the others. */
    messages: () => [seen.arrivals.length, ...seen.digests.map(({ notifications }) => notifications.length)],
  }
})

/** The messages of one type by their rule alone: when each goes out, and about how many. */
const messagesOf = (reports: ReadonlyArray<readonly [second: number, count: number]>) => {
  const sent: Array<readonly [second: number, count: number]> = []
  let minute: { ends: number; singly: number; waits: number } | undefined
  const passTo = (second: number) => {
    if (minute === undefined || second < minute.ends) return
    if (minute.waits > 0) sent.push([minute.ends, minute.waits])
    minute = undefined
  }
  for (const [second, count] of reports) {
    passTo(second)
    for (let n = 0; n < count; n++) {
      minute ??= { ends: second + 60, singly: 0, waits: 0 }
      if (minute.singly < 5) sent.push([second, 1])
      if (minute.singly < 5) minute.singly += 1
      else minute.waits += 1
    }
  }
  passTo(Infinity)
  return sent
}

describe("many messages of one minute (docs/rules.md#floods)", () => {
  it.effect("are five single ones, and one about the others at its end", () =>
    Effect.gen(function* () {
      const { messages, passes, reports } = yield* openMessenger()
      yield* reports(criticalChecks(15))
      assert.deepStrictEqual(messages(), [5])
      yield* passes("59 seconds")
      assert.deepStrictEqual(messages(), [5])
      yield* passes("1 second")
      assert.deepStrictEqual(messages(), [5, 10])
      yield* passes("10 minutes")
      assert.deepStrictEqual(messages(), [5, 10])
    }),
  )

  it.effect("end with a single one where one is left", () =>
    Effect.gen(function* () {
      const { messages, passes, reports } = yield* openMessenger()
      yield* reports(criticalChecks(6))
      yield* passes("1 minute")
      assert.deepStrictEqual(messages(), [6])
    }),
  )

  it.effect("are all single ones with digest: off", () =>
    Effect.gen(function* () {
      const { messages, reports } = yield* openMessenger({ digest: "off" })
      yield* reports(criticalChecks(15))
      assert.deepStrictEqual(messages(), [15])
    }),
  )

  it.effect("let one pass that is more severe than those before", () =>
    Effect.gen(function* () {
      const { messages, passes, reports } = yield* openMessenger()
      yield* reports(warnings(8))
      yield* passes("10 seconds")
      yield* reports([{ check: "fire", status: "critical" }])
      assert.deepStrictEqual(messages(), [6])
      yield* passes("50 seconds")
      assert.deepStrictEqual(messages(), [6, 3])
    }),
  )

  it.effect("hide nothing more severe, and no resolved, however many wait", () =>
    Effect.gen(function* () {
      const { messages, passes, reports, seen } = yield* openMessenger()
      yield* reports(warnings(250))
      yield* passes("10 seconds")
      assert.deepStrictEqual(messages(), [5])
      yield* reports([{ check: "fire", status: "critical" }])
      assert.deepStrictEqual(messages(), [6])
      yield* reports([{ check: "check-0", status: "ok" }])
      assert.deepStrictEqual(messages(), [7])
      assert.strictEqual(seen.arrivals.at(-1)?.notification.event_type, "resolved")
      yield* passes("50 seconds")
      assert.deepStrictEqual(messages(), [7, 100, 100, 45])
    }),
  )

  it.effect("let one of them pass as it becomes more severe than those before", () =>
    Effect.gen(function* () {
      const { messages, passes, reports, seen } = yield* openMessenger()
      yield* reports(warnings(8))
      yield* passes("10 seconds")
      yield* reports([{ check: "check-7", status: "critical" }])
      assert.deepStrictEqual(
        seen.arrivals.slice(5).map(({ notification }) => notification.severity),
        ["warning", "critical"],
      )
      yield* passes("50 seconds")
      assert.deepStrictEqual(messages(), [7, 2])
    }),
  )

  it.effect("are one again where the one about several is tried again", () =>
    Effect.gen(function* () {
      const { messages, passes, reports, restarts, seen } = yield* openMessenger()
      yield* reports(criticalChecks(15))
      seen.answerDigestsWith(deferred)
      yield* passes("61 seconds")
      seen.answerDigestsWith(delivered)
      yield* restarts
      yield* reports([{ check: "other", status: "critical" }])
      yield* passes("10 seconds")
      assert.deepStrictEqual(messages(), [6, 10, 10])
      yield* passes("10 minutes")
      assert.deepStrictEqual(messages(), [6, 10, 10])
    }),
  )

  it.effect("go together when a hundred of them become more severe at once", () =>
    Effect.gen(function* () {
      const { messages, passes, reports } = yield* openMessenger()
      yield* reports(warnings(100))
      yield* passes("10 seconds")
      yield* reports(criticalChecks(100))
      assert.isAtMost(messages()[0] ?? 0, 7)
      yield* passes("50 seconds")
      assert.strictEqual(
        messages().reduce((total, count) => total + count, 0),
        200,
      )
    }),
  )

  it.effect("count once, however often they are attempted", () =>
    Effect.gen(function* () {
      const { messages, passes, reports, seen } = yield* openMessenger()
      seen.answerWith(deferred)
      yield* reports(criticalChecks(3))
      yield* passes("1 second")
      seen.answerWith(delivered)
      yield* passes("6 seconds")
      assert.deepStrictEqual(messages(), [3])
      yield* reports(criticalChecks(6))
      assert.deepStrictEqual(messages(), [5])
      yield* passes("5 minutes")
      assert.deepStrictEqual(messages(), [6])
    }),
  )

  it.effect("are attempted again when they are due, while others wait", () =>
    Effect.gen(function* () {
      const { messages, passes, reports, seen } = yield* openMessenger()
      seen.answerWith(deferred)
      yield* reports(criticalChecks(15))
      yield* passes("1 second")
      seen.answerWith(delivered)
      yield* passes("6 seconds")
      assert.deepStrictEqual(messages(), [5])
      yield* passes("55 seconds")
      assert.deepStrictEqual(messages(), [5, 10])
    }),
  )

  it.effect("are single ones again where the receiver refuses the one about several", () =>
    Effect.gen(function* () {
      const { messages, passes, reports, seen } = yield* openMessenger()
      seen.answerDigestsWith(refused)
      yield* reports(criticalChecks(15))
      yield* passes("2 minutes")
      assert.deepStrictEqual(messages().slice(0, 2), [15, 10])
    }),
  )

  it.effect("are counted together by two servers, and over a restart", () =>
    Effect.gen(function* () {
      const { messages, passes, reports, restarts } = yield* openMessenger({}, 2)
      yield* reports(criticalChecks(3))
      yield* restarts
      yield* passes("20 seconds")
      yield* reports(criticalChecks(15))
      assert.deepStrictEqual(messages(), [5])
      yield* restarts
      yield* passes("30 seconds")
      assert.deepStrictEqual(messages(), [5])
      yield* passes("10 seconds")
      assert.deepStrictEqual(messages(), [5, 10])
      yield* passes("10 minutes")
      assert.deepStrictEqual(messages(), [5, 10])
    }),
  )

  it.effect.each(range(6))("are those of the rule, whoever sends them: random story %d", (seed) =>
    Effect.gen(function* () {
      const { chance, integer, oneOf } = drawsOf(seed)
      const { passes, reports, restarts, seen } = yield* openMessenger({}, 2)
      const began = yield* Instant.now
      const due: Array<readonly [second: number, count: number]> = []
      let second = 0
      for (const step of range(12)) {
        // No sum of these is a minute, at whose end either message could be first.
        const wait = oneOf(7, 14, 35, 77)
        yield* passes(`${wait} seconds`)
        second += wait
        if (chance(0.4)) yield* restarts
        const count = integer(8)
        yield* reports(range(count).map((n) => ({ check: `check-${step}-${n}`, status: "critical" })))
        due.push([second, count])
      }
      yield* passes("2 minutes")
      const at = (moment: Instant.Instant) => Instant.secondsBetween(began, moment)
      const sent = [
        ...seen.arrivals.map((one) => [at(one.at), 1] as const),
        ...seen.digests.map((one) => [at(one.at), one.notifications.length] as const),
      ]
      assert.deepStrictEqual(
        sent.toSorted(([a], [b]) => a - b),
        messagesOf(due).toSorted(([a], [b]) => a - b),
      )
    }),
  )
})
