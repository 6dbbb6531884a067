import { assert, describe, it } from "@effect/vitest"
import { acknowledge, withdraw } from "@tocsin/core/heart/acknowledgements/acknowledge"
import { evaluateDueIncidents } from "@tocsin/core/heart/evaluation/evaluateIncidents"
import { release } from "@tocsin/core/heart/notifications/release"
import type { StorageError } from "@tocsin/core/kernel/ports/Storage"
import { Duration, Effect, identity } from "effect"
import { TestClock } from "effect/testing"
import { observe, search } from "./observe.ts"
import { after, claimable, enqueue, ids, openWith } from "./outboxItems.ts"
import { atOnce, race } from "./race.ts"
import { incidentIdOf, outboxIdOf } from "./records.ts"
import type { Replica } from "./Replica.ts"
import { signedBy } from "./signedBy.ts"
import type { StorageUnderTest } from "./StorageUnderTest.ts"
import { transact } from "./transact.ts"
import { claimItems } from "./claimItems.ts"

const HELD = { next_attempt_at: undefined, holds: [{ by: "ack" }], next_evaluation_at: after(60) } as const

const acknowledged = (replica: Replica, incident: string) =>
  transact(
    replica.storage,
    acknowledge(
      { id: incidentIdOf(incident), note: undefined, until: after(3_600), severity: undefined },
      signedBy("eva"),
    ),
  )

const claim = (replica: Replica, limit: number) =>
  Effect.map(
    claimItems(replica.commits, { receivers: ["debug"], limit, lease: Duration.minutes(1) }),
    (claimed) => claimed.map((item) => item.claim.id),
  )

const evaluate = (replica: Replica) =>
  Effect.map(transact(replica.storage, evaluateDueIncidents(replica.incidents, 500)), ({ found }) => found)

const itemsOf = (replica: Replica, incident: string) =>
  observe(replica, [{ incidents: [incidentIdOf(incident)] }], ({ outbox }) =>
    outbox.group(incidentIdOf(incident)).map(({ id, next_evaluation_at, next_attempt_at }) => ({
      id,
      isHeld: next_evaluation_at !== undefined,
      isDue: next_attempt_at !== undefined,
    })),
  )

/** Firings that a hold keeps waiting. */
export const heldSuite = <Place>(subject: StorageUnderTest<Place>): void => {
  describe("held items", () => {
    it.effect("are not claimed, wait for no receiver and are in no backlog", () =>
      Effect.gen(function* () {
        const replica = yield* openWith(subject, [
          ["held", "a", HELD],
          ["free", "b", {}],
        ])
        assert.deepStrictEqual(
          (yield* claimable(replica, 10)).due.map(({ row }) => row.id),
          ids("free"),
        )
        const { backlog } = yield* replica.storage.metricCounts
        assert.deepStrictEqual(
          backlog.map(({ items, notifier, state }) => [notifier, state, items]),
          [["debug", "pending", 1]],
        )
        yield* claim(replica, 10)
        assert.strictEqual(yield* replica.storage.untilNextDue(["webhook"], after(0)), undefined)
      }),
    )

    it.effect("are found for examination from their time on, longest due first", () =>
      Effect.gen(function* () {
        const replica = yield* openWith(subject, [
          ["late", "late", { ...HELD, next_evaluation_at: after(-5) }],
          ["later", "later", { ...HELD, next_evaluation_at: after(-60) }],
          ["now", "now", { ...HELD, next_evaluation_at: after(0) }],
          // Its acknowledgement has ended.
          ["in retry", "in retry", { ...HELD, state: "retry", next_evaluation_at: after(-30) }],
          ["sent", "sent", { ...HELD, state: "sent", next_evaluation_at: after(-30) }],
          ["not yet", "not yet", { ...HELD, next_evaluation_at: after(1) }],
          // No server of this policy examines it.
          ["of another", "of another", { ...HELD, next_evaluation_at: after(-90), receiver: "pager" }],
        ])
        const found = (limit: number) =>
          search(replica, "heldOutbox", { receivers: ["debug"], limit }, identity)
        assert.deepStrictEqual(yield* found(10), ["later", "in retry", "late", "now"].map(incidentIdOf))
        assert.deepStrictEqual(yield* found(2), ["later", "in retry"].map(incidentIdOf))
      }),
    )

    it.effect("an acknowledgement holds what is claimed, until it is withdrawn", () =>
      Effect.gen(function* () {
        const replica = yield* openWith(subject, [
          ["acknowledged", "a", {}],
          ["other", "b", {}],
        ])
        yield* acknowledged(replica, "a")
        assert.deepStrictEqual(yield* claim(replica, 10), ids("other"))
        assert.deepStrictEqual(yield* itemsOf(replica, "a"), [
          { id: outboxIdOf("acknowledged"), isHeld: true, isDue: false },
        ])
        assert.strictEqual(yield* evaluate(replica), 1)
        assert.strictEqual(yield* evaluate(replica), 0)
        assert.strictEqual(yield* transact(replica.storage, withdraw(incidentIdOf("a"), signedBy("eva"))), 1)
        assert.strictEqual(yield* transact(replica.storage, withdraw(incidentIdOf("a"), signedBy("eva"))), 0)
        assert.strictEqual(yield* evaluate(replica), 1)
        assert.deepStrictEqual(yield* claim(replica, 1), ids("acknowledged"))
      }),
    )

    it.effect("become due when their hold ends, the last of a receiver for all of them", () =>
      Effect.gen(function* () {
        const replica = yield* openWith(subject, [
          ["first", "a", { incident_seq: 1 }],
          ["second", "a", { incident_seq: 2 }],
          ["of another", "a", { notifier: "webhook", incident_seq: 1 }],
        ])
        yield* acknowledged(replica, "a")
        assert.deepStrictEqual(yield* claim(replica, 10), [])
        yield* TestClock.adjust("59 minutes")
        yield* evaluate(replica)
        assert.deepStrictEqual(yield* claim(replica, 10), [])
        yield* transact(replica.storage, withdraw(incidentIdOf("a"), signedBy("eva")))
        assert.strictEqual(yield* evaluate(replica), 1)
        assert.deepStrictEqual(yield* claim(replica, 10), ids("second"))
        const { backlog } = yield* replica.storage.metricCounts
        assert.deepStrictEqual(
          backlog.map(({ items, notifier, state }) => [notifier, state, items]),
          [
            ["debug", "sending", 1],
            ["webhook", "pending", 1],
          ],
        )
      }),
    )

    race(subject, { name: "are released, and their incident acknowledged, at once" }, (replica) =>
      Effect.gen(function* () {
        yield* enqueue(replica(0), [["held", "a", HELD]])
        const acts = (n: number): Effect.Effect<unknown, StorageError> =>
          n % 2 === 0
            ? acknowledged(replica(n / 2), "a")
            : transact(
                replica((n - 1) / 2).storage,
                release(outboxIdOf("held"), replica(0).incidents, signedBy("eva")),
              )
        const outcomes = yield* Effect.forEach(
          Array.from({ length: 24 }, (_, n) => n),
          acts,
          atOnce,
        )
        assert.strictEqual(outcomes.filter((outcome) => outcome === "released").length, 1)
      }),
    )

    it.effect("a claim reaches free items behind many held ones", () =>
      Effect.gen(function* () {
        const names = Array.from({ length: 40 }, (_, n) => `a${n}`)
        const replica = yield* openWith(subject, [
          ...names.map((name) => [name, name, { next_attempt_at: after(-60) }] as const),
          ["free", "free", {}],
        ])
        for (const name of names) yield* acknowledged(replica, name)
        assert.deepStrictEqual(yield* claim(replica, 2), ids("free"))
      }),
    )
  })
}
