import { assert, describe, it } from "@effect/vitest"
import { readPolicy } from "@tocsin/core/lists/readPolicy"
import { type Duration, Effect, Result } from "effect"
import { TestClock } from "effect/testing"
import { AGENT, criticalChecks, enroll, report } from "../service/agents.ts"
import { deferred, delivered, refused } from "../service/Receivers.ts"
import { openService } from "../service/Service.ts"
import { settled } from "../service/settled.ts"

/** A service whose messenger is defined so in its policy. */
const openMessenger = Effect.fnUntraced(function* (receiver: object = {}) {
  const receivers = { messenger: { kind: "messenger", url_env: "CHAT", ...receiver } }
  const policy = Result.getOrThrow(readPolicy({ receivers }, []))
  const service = yield* openService({ notifiers: ["messenger"], policy })
  const process = yield* service.open("a")
  yield* enroll(process, AGENT)
  yield* settled
  const { receivers: seen } = service
  return {
    seen,
    reports: (results: Parameters<typeof report>[1]) =>
      Effect.andThen(Effect.orDie(report(process, results)), settled),
    passes: (time: Duration.Input) => Effect.andThen(TestClock.adjust(time), settled),
    /** How many messages were single ones, and the sizes of the others. */
    messages: () => [seen.arrivals.length, ...seen.digests.map(({ notifications }) => notifications.length)],
  }
})

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
      yield* reports(criticalChecks(8).map((one) => ({ ...one, status: "warning" as const })))
      yield* passes("10 seconds")
      yield* reports([{ check: "fire", status: "critical" }])
      assert.deepStrictEqual(messages(), [6])
      yield* passes("50 seconds")
      assert.deepStrictEqual(messages(), [6, 3])
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
})
