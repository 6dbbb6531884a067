import { assert, describe, it } from "@effect/vitest"
import { compilePolicy } from "@tocsin/core/heart/policy/compilePolicy"
import { readPolicy } from "@tocsin/core/lists/readPolicy"
import { Duration, Effect, Result } from "effect"
import { TestClock } from "effect/testing"
import { AGENT, criticalChecks, enroll, report } from "../service/agents.ts"
import { deferred, delivered, hanging, refused } from "../service/Receivers.ts"
import { openService, type ProcessOptions } from "../service/Service.ts"
import { settled } from "../service/settled.ts"

/** A service whose messenger is defined so. */
const openMessenger = Effect.fnUntraced(function* (receiver: object, options: ProcessOptions = {}) {
  const service = yield* openService({ notifiers: ["messenger"] })
  const process = yield* service.open("a", options)
  const receivers = { messenger: { kind: "messenger", url_env: "CHAT", ...receiver } }
  const names = ["messenger"]
  yield* process.policy.replace(compilePolicy(Result.getOrThrow(readPolicy({ receivers }, names)), names))
  yield* enroll(process, AGENT)
  yield* settled
  const reports = (results: Parameters<typeof report>[1]) =>
    Effect.andThen(Effect.orDie(report(process, results)), settled)
  const states = () =>
    Array.from(service.rows().outbox.values()).map(({ event_type, state }) => `${event_type} ${state}`)
  const { receivers: seen } = service
  const digests = () => seen.digests.map(({ notifications }) => notifications.length)
  return { service, seen, reports, states, digests, openedBy: process }
})

const ok = (count: number) => criticalChecks(count).map((one) => ({ ...one, status: "ok" as const }))

describe("a digest", () => {
  it.effect("is one message about more due notifications than its limit", () =>
    Effect.gen(function* () {
      const { digests, reports, seen, states } = yield* openMessenger({ digest: { over: 5 } })
      yield* reports(criticalChecks(5))
      assert.deepStrictEqual([digests(), seen.arrivals.length], [[], 5])
      yield* reports(ok(5))
      assert.deepStrictEqual([digests(), seen.arrivals.length], [[], 10])
      yield* reports(criticalChecks(6))
      assert.deepStrictEqual([digests(), seen.arrivals.length], [[6], 10])
      assert.deepStrictEqual(new Set(states()), new Set(["firing sent", "resolved sent"]))
    }),
  )

  it.effect("is one message for each type", () =>
    Effect.gen(function* () {
      const { digests, reports, seen } = yield* openMessenger({ digest: { over: 5 } })
      yield* reports(criticalChecks(4))
      yield* reports([
        ...ok(4),
        ...Array.from({ length: 3 }, (_, n) => ({ check: `new-${n}`, status: "critical" as const })),
      ])
      assert.deepStrictEqual(digests().toSorted(), [3, 4])
      for (const { notifications } of seen.digests)
        assert.strictEqual(new Set(notifications.map(({ event_type }) => event_type)).size, 1)
    }),
  )

  it.effect("takes at most 100 notifications, and what is left follows", () =>
    Effect.gen(function* () {
      const { digests, reports, states } = yield* openMessenger({ digest: { over: 5 } })
      yield* reports(criticalChecks(150))
      assert.deepStrictEqual(digests(), [100, 50])
      assert.deepStrictEqual(new Set(states()), new Set(["firing sent"]))
    }),
  )

  it.effect("takes at most 100 of more than 100, and what is left is sent singly", () =>
    Effect.gen(function* () {
      const { digests, reports, seen } = yield* openMessenger({ digest: { over: 100 } })
      yield* reports(criticalChecks(100))
      assert.deepStrictEqual([digests(), seen.arrivals.length], [[], 100])
      yield* reports(ok(100))
      assert.deepStrictEqual([digests(), seen.arrivals.length], [[], 200])
      yield* reports(criticalChecks(150))
      assert.deepStrictEqual([digests(), seen.arrivals.length], [[100], 250])
    }),
  )

  it.effect("takes at most 100 notifications, however many attempts may run at a time", () =>
    Effect.gen(function* () {
      const options = { concurrency: 300 }
      const { digests, reports, seen } = yield* openMessenger({ digest: { over: 100 } }, options)
      yield* reports(criticalChecks(100))
      assert.deepStrictEqual([digests(), seen.arrivals.length], [[], 100])
      yield* reports(ok(100))
      yield* reports(criticalChecks(250))
      assert.deepStrictEqual([digests(), seen.arrivals.length], [[100, 100], 250])
    }),
  )

  it.effect("settles each notification by its answer, and is one message again after a failure", () =>
    Effect.gen(function* () {
      const { digests, reports, seen, states } = yield* openMessenger({ digest: { over: 2 } })
      seen.answerDigestsWith(deferred)
      yield* reports(criticalChecks(4))
      assert.deepStrictEqual(
        states(),
        Array.from({ length: 4 }, () => "firing retry"),
      )
      yield* TestClock.adjust("10 seconds")
      yield* settled
      assert.deepStrictEqual(digests(), [4, 4])
      seen.answerDigestsWith(delivered)
      yield* TestClock.adjust("1 minute")
      yield* settled
      assert.deepStrictEqual(
        states(),
        Array.from({ length: 4 }, () => "firing sent"),
      )
      assert.deepStrictEqual([digests(), seen.arrivals.length], [[4, 4, 4], 0])
    }),
  )

  it.effect("that is refused for good is sent singly, so that one notification spoils no other", () =>
    Effect.gen(function* () {
      const { reports, seen, states } = yield* openMessenger({ digest: { over: 2 } })
      seen.answerDigestsWith(refused)
      yield* reports(criticalChecks(4))
      assert.strictEqual(seen.arrivals.length, 4)
      assert.deepStrictEqual(
        states(),
        Array.from({ length: 4 }, () => "firing sent"),
      )
    }),
  )

  it.effect("that is refused for good is sent singly at the pace of a slow receiver", () =>
    Effect.gen(function* () {
      const receiver = { digest: { over: 5 }, concurrency: 1 }
      const options = { lease: Duration.seconds(6) }
      const { digests, reports, seen, service } = yield* openMessenger(receiver, options)
      seen.answerDigestsWith(refused)
      seen.answerWith({ ...delivered, answeringMillis: 1_000 })
      yield* reports(criticalChecks(60))
      const itemsAfter = Effect.fnUntraced(function* (time: Duration.Input) {
        yield* Effect.andThen(service.passes(time), settled)
        return Array.from(service.rows().outbox.values())
      })
      const errors = new Set((yield* itemsAfter("10 seconds")).map(({ last_error }) => last_error))
      assert.deepStrictEqual(errors, new Set([undefined]))
      for (const { attempts, state } of yield* itemsAfter("1 minute"))
        assert.deepStrictEqual([state, attempts], ["sent", 1])
      assert.deepStrictEqual([digests(), seen.arrivals.length], [[60], 60])
      // Later ones are digests again.
      seen.answerDigestsWith(delivered)
      yield* reports(ok(60))
      assert.deepStrictEqual([digests(), seen.arrivals.length], [[60, 60], 60])
    }),
  )
})

describe("a receiver's concurrency", () => {
  it.effect("bounds its attempts at a time", () =>
    Effect.gen(function* () {
      const { reports, seen } = yield* openMessenger({ concurrency: 3 })
      seen.answerWith(hanging)
      yield* reports(criticalChecks(10))
      assert.strictEqual(seen.attempts.length, 3)
    }),
  )
})
