import { assert, describe, it } from "@effect/vitest"
import type { NotifierKind } from "@tocsin/core/contract/Status"
import * as Instant from "@tocsin/core/contract/Instant"
import { claimAlerts } from "@tocsin/core/notifications/alertDecisions"
import { claimOutbox } from "@tocsin/core/notifications/claimOutbox"
import type { OutboxRecord } from "@tocsin/core/notifications/OutboxRecord"
import { Duration, Effect } from "effect"
import { TestClock } from "effect/testing"
import { race } from "./race.ts"
import { observe } from "./observe.ts"
import { alertRecord, incidentIdOf, incidentRecord, outboxIdOf, outboxRecord, write } from "./records.ts"
import { openReplica, type Replica } from "./Replica.ts"
import { rowsOf } from "./rowsOf.ts"
import { start, START_MILLIS } from "./samples.ts"
import type { StorageUnderTest } from "./StorageUnderTest.ts"

const after = (seconds: number) => Instant.fromMicros(start + BigInt(seconds * 1_000_000))
/** Past and to come by any clock. */
const [LONG_AGO, FAR_OFF] = [Instant.fromMicros(0n), Instant.fromMicros(start * 3n)]

const ENDED: Partial<OutboxRecord> = { state: "sent", next_attempt_at: undefined }
const sending = (leased_until: Instant.Instant): Partial<OutboxRecord> => ({
  state: "sending",
  next_attempt_at: undefined,
  attempts: 1,
  leased_until,
})

/** Puts incidents and outbox items, given as [name, incident, changes]. */
const enqueue = (replica: Replica, items: ReadonlyArray<readonly [string, string, Partial<OutboxRecord>]>) =>
  write(replica, [], (workspace) => {
    for (const name of new Set(items.map(([, incident]) => incident))) workspace.incidents.put(incidentRecord(name))
    for (const [name, incident, changes] of items) workspace.outbox.put(outboxRecord(name, incident, changes))
  })

/** A storage with such items, at {@link start}. */
const openWith = Effect.fnUntraced(function* <Place, E>(
  subject: StorageUnderTest<Place, E>,
  items: ReadonlyArray<readonly [string, string, Partial<OutboxRecord>]>,
) {
  yield* TestClock.setTime(START_MILLIS)
  const replica = yield* openReplica(subject)
  yield* enqueue(replica, items)
  return replica
})

const ids = (...names: ReadonlyArray<string>) => names.map((name) => outboxIdOf(name))

const claimable = (replica: Replica, limit: number, notifiers: ReadonlyArray<NotifierKind> = ["debug"]) =>
  observe(replica, [{ claimableOutbox: { notifiers, limit } }], ({ found }) => found)

const describeClaims = <Place, E>(subject: StorageUnderTest<Place, E>): void => {
  it.effect("items that are due, longest due first, with their incidents", () =>
    Effect.gen(function* () {
      const replica = yield* openWith(subject, [
        ["now", "a", { next_attempt_at: start }],
        ["earlier", "b", { next_attempt_at: after(-5), state: "retry", attempts: 2 }],
        ["earliest", "c", { next_attempt_at: after(-60) }],
        ["not yet", "d", { next_attempt_at: Instant.fromMicros(start + 1n) }],
        ["of another notifier", "e", { notifier: "webhook" }],
        ["sent", "f", ENDED],
        ["failed", "g", { ...ENDED, state: "failed" }],
        ["discarded", "h", { ...ENDED, state: "discarded" }],
        ["being sent", "i", sending(FAR_OFF)],
      ])
      const found = yield* claimable(replica, 10)
      assert.deepStrictEqual(
        found.claimableOutbox.map(({ row, incident }) => [row.id, row.state, incident.id]),
        [
          [outboxIdOf("earliest"), "pending", incidentIdOf("c")],
          [outboxIdOf("earlier"), "retry", incidentIdOf("b")],
          [outboxIdOf("now"), "pending", incidentIdOf("a")],
        ],
      )
      assert.deepStrictEqual(found.expiredOutbox, [])
      const first = yield* claimable(replica, 2)
      assert.deepStrictEqual(
        first.claimableOutbox.map(({ row }) => row.id),
        ids("earliest", "earlier"),
      )
      const both = yield* claimable(replica, 10, ["webhook", "debug", "messenger"])
      assert.sameMembers(
        both.claimableOutbox.map(({ row }) => row.id),
        [...ids("now", "earlier", "earliest", "of another notifier")],
      )
      assert.deepStrictEqual((yield* claimable(replica, 10, [])).claimableOutbox, [])
    }),
  )

  it.effect("no item before the earlier ones of its incident and notifier have ended", () =>
    Effect.gen(function* () {
      const replica = yield* openWith(subject, [
        ["behind pending", "a", { incident_seq: 2 }],
        ["pending, not due", "a", { incident_seq: 1, next_attempt_at: after(60) }],
        ["behind retry", "b", { incident_seq: 7 }],
        ["retry, not due", "b", { incident_seq: 3, state: "retry", next_attempt_at: after(60) }],
        ["behind sending", "c", { incident_seq: 2 }],
        ["sending", "c", { incident_seq: 1, ...sending(FAR_OFF) }],
        ["behind due", "d", { incident_seq: 2, next_attempt_at: after(-60) }],
        ["due", "d", { incident_seq: 1 }],
        ["behind ended", "e", { incident_seq: 4 }],
        ["sent", "e", { ...ENDED, incident_seq: 1 }],
        ["failed", "e", { ...ENDED, state: "failed", incident_seq: 2 }],
        ["discarded", "e", { ...ENDED, state: "discarded", incident_seq: 3 }],
        ["behind another notifier", "f", { incident_seq: 2 }],
        ["of another notifier", "f", { incident_seq: 1, notifier: "webhook", next_attempt_at: after(60) }],
      ])
      const { claimableOutbox } = yield* claimable(replica, 100)
      assert.sameMembers(
        claimableOutbox.map(({ row }) => row.id),
        [...ids("due", "behind ended", "behind another notifier")],
      )
    }),
  )

  it.effect("items whose lease ran out by the storage's clock, which it tells", () =>
    Effect.gen(function* () {
      const replica = yield* openWith(subject, [
        ["lost", "a", sending(LONG_AGO)],
        ["lost too", "b", sending(LONG_AGO)],
        ["held", "c", sending(FAR_OFF)],
        ["lost by another", "d", { ...sending(LONG_AGO), notifier: "webhook" }],
      ])
      const found = yield* claimable(replica, 10)
      assert.sameMembers(
        found.expiredOutbox.map((row) => row.id),
        [...ids("lost", "lost too")],
      )
      assert.strictEqual((yield* claimable(replica, 1)).expiredOutbox.length, 1)
      const [first = 0n, second = 0n] = [found.storageTime, (yield* claimable(replica, 1)).storageTime]
      assert.isTrue(first > LONG_AGO && first < FAR_OFF && second >= first, `${first} then ${second}`)
    }),
  )

  it.effect("alerts that are due and not held, longest due first, with their incidents", () =>
    Effect.gen(function* () {
      const replica = yield* openWith(subject, [])
      yield* write(replica, [], (workspace) => {
        for (const name of ["a", "b", "c", "d", "e"]) workspace.incidents.put(incidentRecord(name))
        workspace.alerts.put(alertRecord("a", { next_at: start }))
        workspace.alerts.put(alertRecord("a", { severity: "warning", next_at: after(-9), ended_at: start }))
        workspace.alerts.put(alertRecord("b", { next_at: after(-5), leased_until: LONG_AGO }))
        workspace.alerts.put(alertRecord("c", { next_at: after(-60), leased_until: FAR_OFF }))
        workspace.alerts.put(alertRecord("d", { next_at: after(1) }))
      })
      const found = (limit: number) =>
        observe(replica, [{ claimableAlerts: { limit } }], (workspace) =>
          workspace.found.claimableAlerts.map(({ row, incident }) => [row.severity, incident.id]),
        )
      const all = [
        ["warning", incidentIdOf("a")],
        ["critical", incidentIdOf("b")],
        ["critical", incidentIdOf("a")],
      ]
      assert.deepStrictEqual(yield* found(10), all)
      assert.deepStrictEqual(yield* found(2), all.slice(0, 2))
    }),
  )
}

const describeLookups = <Place, E>(subject: StorageUnderTest<Place, E>): void => {
  it.effect("items that nobody touched for long", () =>
    Effect.gen(function* () {
      const replica = yield* openWith(subject, [
        ["old", "a", { updated_at: after(-1) }],
        ["old retry", "b", { updated_at: after(-2), state: "retry", next_attempt_at: after(900) }],
        ["just then", "c", { updated_at: start }],
        ["sent", "d", { ...ENDED, updated_at: after(-5) }],
        ["being sent", "e", { ...sending(LONG_AGO), updated_at: after(-5) }],
        ["of another notifier", "f", { updated_at: after(-5), notifier: "webhook" }],
      ])
      const found = (limit: number) =>
        observe(
          replica,
          [{ abandonedOutbox: { notifiers: ["debug", "messenger"], untouchedSince: start, limit } }],
          (workspace) => workspace.found.abandonedOutbox.map((row) => workspace.outbox.get(row.id)?.id),
        )
      assert.sameMembers(yield* found(10), [...ids("old", "old retry")])
      assert.strictEqual((yield* found(1)).length, 1)
    }),
  )

  it.effect("items by id in any state, and that there is none", () =>
    Effect.gen(function* () {
      const replica = yield* openWith(subject, [
        ["pending", "a", {}],
        ["discarded", "a", { ...ENDED, state: "discarded" }],
      ])
      const outboxItems = ids("pending", "discarded", "nothing")
      const states = yield* observe(replica, [{ outboxItems }], ({ outbox }) =>
        outboxItems.map((id) => outbox.get(id)?.state),
      )
      assert.deepStrictEqual(states, ["pending", "discarded", undefined])
    }),
  )

  it.effect("how long until the next item or alert is due", () =>
    Effect.gen(function* () {
      const replica = yield* openWith(subject, [
        ["due", "a", { next_attempt_at: after(-5) }],
        ["of another notifier", "b", { notifier: "webhook", next_attempt_at: after(1) }],
        ["sent", "c", ENDED],
      ])
      const until = (...notifiers: ReadonlyArray<NotifierKind>) =>
        Effect.map(replica.storage.untilNextDue(notifiers, start), (time) => time && Duration.toMillis(time))
      assert.isUndefined(yield* until("debug", "messenger"))
      assert.strictEqual(yield* until("debug", "webhook"), 1_000)
      yield* enqueue(replica, [
        ["soon", "d", { next_attempt_at: Instant.fromMicros(start + 2_500n) }],
        ["later", "e", { state: "retry", next_attempt_at: after(60) }],
      ])
      assert.strictEqual(yield* until("debug"), 2.5)
      assert.isUndefined(yield* until("messenger"))
      yield* write(replica, [], (workspace) => workspace.alerts.put(alertRecord("a", { next_at: after(30) })))
      // An alert belongs to one notifier alone; others may be woken by it in vain.
      assert.strictEqual(yield* until("alert_router"), 30_000)
    }),
  )

  it.effect("a lease that was granted ends in its time", () =>
    Effect.gen(function* () {
      const replica = yield* openWith(subject, [["item", "a", {}]])
      const lease = Duration.minutes(10)
      const claimed = yield* replica.storage.transact(
        claimOutbox({ notifiers: ["debug"], limit: 5, lease, random: 0 }),
      )
      assert.deepStrictEqual(
        claimed.map((item) => item.claim.id),
        ids("item"),
      )
      const until = yield* replica.storage.untilNextDue(["debug"], start)
      const millis = until === undefined ? 0 : Duration.toMillis(until)
      assert.isTrue(millis > 9 * 60_000 && millis <= 10 * 60_000, `${millis} ms`)
      assert.deepStrictEqual((yield* claimable(replica, 5)).expiredOutbox, [])
    }),
  )
}

const range = (length: number): ReadonlyArray<number> => Array.from({ length }, (_, n) => n)

const describeClaimRaces = <Place, E>(subject: StorageUnderTest<Place, E>): void => {
  race(subject, { name: "an item is claimed by one, and a resolved after its firing" }, (replica) =>
    Effect.gen(function* () {
      const incidents = range(30)
      yield* enqueue(
        replica(0),
        incidents.flatMap((n) => [
          [`firing ${n}`, `${n}`, { incident_seq: 1 }] as const,
          [`resolved ${n}`, `${n}`, { incident_seq: 2, event_type: "resolved" }] as const,
        ]),
      )
      const claim = (n: number) =>
        replica(n).storage.transact(
          claimOutbox({ notifiers: ["debug"], limit: 7, lease: Duration.hours(1), random: 0 }),
        )
      const workers = range(8).map((n) => Effect.forEach(range(6), () => claim(n)))
      const claimed = (yield* Effect.all(workers, { concurrency: "unbounded" })).flat(2)
      const names = claimed.map((item) => item.claim.id)
      assert.deepStrictEqual(names.toSorted(), [...ids(...incidents.map((n) => `firing ${n}`))].toSorted())
      const stored = yield* rowsOf(replica(1), "outbox", { state: "sending" })
      assert.deepStrictEqual(
        stored.map((row) => [row.attempts, row.event_type]),
        incidents.map(() => [1, "firing"]),
      )
    }),
  )

  race(subject, { name: "an alert is claimed by one" }, (replica) =>
    Effect.gen(function* () {
      const incidents = range(20).map((n) => `incident ${n}`)
      yield* write(replica(0), [], (workspace) => {
        for (const name of incidents) {
          workspace.incidents.put(incidentRecord(name))
          workspace.alerts.put(alertRecord(name, { next_at: LONG_AGO }))
        }
      })
      const claim = (n: number) =>
        replica(n).storage.transact(claimAlerts({ limit: 6, lease: Duration.hours(1) }))
      const workers = range(8).map((n) => Effect.forEach(range(4), () => claim(n)))
      const claimed = (yield* Effect.all(workers, { concurrency: "unbounded" })).flat(2)
      assert.deepStrictEqual(
        claimed.map(({ alert }) => alert.incident_id).toSorted(),
        incidents.map(incidentIdOf).toSorted(),
      )
    }),
  )
}

/** What those who deliver find and hold (decisions §8, §9). */
export const deliverySuite = <Place, E>(subject: StorageUnderTest<Place, E>): void => {
  describe("delivery", () => {
    describeClaims(subject)
    describeLookups(subject)
    describeClaimRaces(subject)
  })
}
