import { assert, describe, it } from "@effect/vitest"
import type { NotifierName } from "@tocsin/contract/formats/Status"
import * as Instant from "@tocsin/contract/formats/Instant"
import { recordResults } from "@tocsin/core/heart/notifications/recordResults"
import { Duration, Effect } from "effect"
import { observe, search } from "./observe.ts"
import { after, claimable, ENDED, enqueue, ids, LONG_AGO, openWith, sending } from "./outboxItems.ts"
import { alertRecord, incidentIdOf, incidentRecord, outboxIdOf, write } from "./records.ts"
import { rowsOf } from "./rowsOf.ts"
import { start } from "./samples.ts"
import type { StorageUnderTest } from "./StorageUnderTest.ts"
import { transact } from "./transact.ts"
import { claimItems } from "./claimItems.ts"

/** Outbox items by id and by age, and when the next is due (docs/rules.md#outbox). */
export const outboxSuite = <Place>(subject: StorageUnderTest<Place>): void => {
  describe("outbox", () => {
    it.effect("items of receivers that no replica lists", () =>
      Effect.gen(function* () {
        const replica = yield* openWith(subject, [
          ["old", "a", { updated_at: after(-1) }],
          ["old retry", "b", { updated_at: after(-2), state: "retry", next_attempt_at: after(900) }],
          ["just then", "c", { updated_at: start }],
          ["sent", "d", { ...ENDED, updated_at: after(-5) }],
          ["being sent", "e", { ...sending(LONG_AGO), updated_at: after(-5) }],
          ["leased until then", "g", { ...sending(start), updated_at: after(-5) }],
          ["of a listed receiver", "f", { updated_at: after(-5), notifier: "webhook", receiver: "webhook" }],
          ["named", "h", { receiver: "chat" }],
          ["named, being sent", "i", { ...sending(LONG_AGO), receiver: "night" }],
        ])
        const found = (limit: number, untouchedSince = start) =>
          search(replica, "unclaimedOutbox", { listed: ["webhook"], untouchedSince, limit }, (found, unit) =>
            found.map((row) => unit.outbox.get(row.id)?.id),
          )
        assert.sameMembers(yield* found(10), [
          ...ids("old", "old retry", "being sent", "named", "named, being sent"),
        ])
        assert.include([1, 2], (yield* found(1)).length, "one of each at most")
        assert.sameMembers(yield* found(10, LONG_AGO), [...ids("named", "named, being sent")])
      }),
    )

    it.effect("a notifier's error message, whatever its text", () =>
      Effect.gen(function* () {
        const replica = yield* openWith(subject, [["item", "a", { notifier: "pager" }]])
        const input = { receivers: ["pager"], limit: 1, lease: Duration.minutes(1) }
        const [claimed] = yield* claimItems(replica.commits, input)
        if (claimed === undefined) return assert.fail("nothing was claimed")
        const result = { outcome: "refused", error: "no\0 \ud83d" } as const
        yield* transact(replica.storage, recordResults([{ claim: claimed.claim, result, random: 0 }]))
        const [item] = yield* rowsOf(replica, "outbox")
        assert.deepStrictEqual([item?.state, item?.last_error], ["failed", "no  \ufffd"])
      }),
    )

    it.effect("items by ID in any state, or none", () =>
      Effect.gen(function* () {
        const replica = yield* openWith(subject, [
          ["pending", "a", {}],
          ["discarded", "a", { ...ENDED, state: "discarded" }],
        ])
        const outbox = ids("pending", "discarded", "nothing")
        const states = yield* observe(replica, [{ rows: { outbox } }], (unit) =>
          outbox.map((id) => unit.outbox.get(id)?.state),
        )
        assert.deepStrictEqual(states, ["pending", "discarded", undefined])
      }),
    )

    it.effect("how long until the next item or alert is due", () =>
      Effect.gen(function* () {
        const replica = yield* openWith(subject, [
          ["due", "a", { next_attempt_at: after(-5) }],
          ["of another receiver", "b", { receiver: "webhook", next_attempt_at: after(1) }],
          ["sent", "c", ENDED],
        ])
        const until = (...receivers: ReadonlyArray<NotifierName>) =>
          Effect.map(
            replica.storage.untilNextDue(receivers, start),
            (time) => time && Duration.toMillis(time),
          )
        assert.isUndefined(yield* until("debug", "messenger"))
        assert.strictEqual(yield* until("debug", "webhook"), 1_000)
        yield* enqueue(replica, [
          ["soon", "d", { next_attempt_at: Instant.fromMicros(start + 2_500n) }],
          ["later", "e", { state: "retry", next_attempt_at: after(60) }],
        ])
        assert.strictEqual(yield* until("debug"), 2.5)
        assert.isUndefined(yield* until("messenger"))
        yield* write(replica, [], (unit) => {
          unit.alerts.put(alertRecord("a", { next_at: after(30) }))
          unit.alerts.put(alertRecord("a", { receiver: "second_router", next_at: after(40) }))
        })
        assert.isUndefined(yield* until("messenger"))
        assert.strictEqual(yield* until("alert_router"), 30_000)
        assert.strictEqual(yield* until("second_router", "alert_router"), 30_000)
        assert.strictEqual(yield* until("second_router"), 40_000)
      }),
    )

    it.effect("how long until an alert is due whose last lease has ended", () =>
      Effect.gen(function* () {
        const replica = yield* openWith(subject, [["sent", "a", ENDED]])
        yield* write(replica, [], (unit) => {
          const ended = { leased_until: after(-5) }
          unit.alerts.put(alertRecord("a", { ...ended, next_at: after(30) }))
          unit.alerts.put(alertRecord("a", { ...ended, receiver: "second_router", next_at: after(40) }))
        })
        const until = (receiver: NotifierName) =>
          Effect.map(
            replica.storage.untilNextDue([receiver], start),
            (time) => time && Duration.toMillis(time),
          )
        assert.strictEqual(yield* until("alert_router"), 30_000)
        assert.strictEqual(yield* until("second_router"), 40_000)
      }),
    )

    it.effect("a lease expires in time, the first one first", () =>
      Effect.gen(function* () {
        const replica = yield* openWith(subject, [["item", "a", {}]])
        const claimed = (lease: Duration.Duration) =>
          Effect.map(claimItems(replica.commits, { receivers: ["debug"], limit: 5, lease }), (items) =>
            items.map((item) => item.claim.id),
          )
        assert.deepStrictEqual(yield* claimed(Duration.minutes(10)), ids("item"))
        yield* enqueue(replica, [["another", "b", {}]])
        assert.deepStrictEqual(yield* claimed(Duration.minutes(20)), ids("another"))
        const until = yield* replica.storage.untilNextDue(["debug"], start)
        const millis = until === undefined ? 0 : Duration.toMillis(until)
        assert.isTrue(millis > 9 * 60_000 && millis <= 10 * 60_000, `${millis} ms`)
        assert.deepStrictEqual((yield* claimable(replica, 5)).expired, [])
      }),
    )

    it.effect("a firing whose agent is gone is discarded at the end of its lease, with its resolved", () =>
      Effect.gen(function* () {
        const replica = yield* openWith(subject, [
          ["firing", "a", { ...sending(LONG_AGO), incident_seq: 1 }],
          ["resolved", "a", { event_type: "resolved", incident_seq: 2 }],
          ["of a present agent", "b", sending(LONG_AGO)],
        ])
        yield* write(replica, [{ incidents: [incidentIdOf("a")] }], (unit) =>
          unit.incidents.put(
            incidentRecord("a", { state: "resolved", resolved_at: start, resolved_by: "agent_gone" }),
          ),
        )
        const input = { receivers: ["debug"], limit: 5, lease: Duration.minutes(1) }
        assert.deepStrictEqual(yield* claimItems(replica.commits, input), [])
        const items = yield* rowsOf(replica, "outbox")
        assert.sameMembers(
          items.map(({ id, state }) => `${id} ${state}`),
          [
            `${outboxIdOf("firing")} discarded`,
            `${outboxIdOf("resolved")} discarded`,
            `${outboxIdOf("of a present agent")} retry`,
          ],
        )
      }),
    )
  })
}
