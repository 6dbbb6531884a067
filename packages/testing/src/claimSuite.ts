import { assert, describe, it } from "@effect/vitest"
import * as Instant from "@tocsin/contract/formats/Instant"
import { recordResults } from "@tocsin/core/heart/notifications/recordResults"
import type { StorageError } from "@tocsin/core/kernel/ports/Storage"
import { Duration, Effect } from "effect"
import { TestClock } from "effect/testing"
import { search } from "./observe.ts"
import { after, claimable, ENDED, enqueue, FAR_OFF, ids, LONG_AGO, openWith, sending } from "./outboxItems.ts"
import { race } from "./race.ts"
import { ALERT_RECEIVERS, alertRecord, incidentIdOf, outboxIdOf, outboxRecord, write } from "./records.ts"
import { rowsOf } from "./rowsOf.ts"
import { start, START_MILLIS } from "./samples.ts"
import type { StorageUnderTest } from "./StorageUnderTest.ts"
import { transact } from "./transact.ts"
import { range } from "./numbers.ts"
import { claimItems } from "./claimItems.ts"

const describeClaims = <Place>(subject: StorageUnderTest<Place>): void => {
  it.effect("due items, longest due first, with their incidents", () =>
    Effect.gen(function* () {
      const replica = yield* openWith(subject, [
        ["now", "a", { next_attempt_at: start }],
        ["earlier", "b", { next_attempt_at: after(-5), state: "retry", attempts: 2 }],
        ["earliest", "c", { next_attempt_at: after(-60) }],
        ["not yet", "d", { next_attempt_at: Instant.fromMicros(start + 1n) }],
        ["of another notifier", "e", { notifier: "webhook", next_attempt_at: after(-30) }],
        ["sent", "f", ENDED],
        ["failed", "g", { ...ENDED, state: "failed" }],
        ["discarded", "h", { ...ENDED, state: "discarded" }],
        ["being sent", "i", sending(FAR_OFF)],
      ])
      const found = yield* claimable(replica, 10)
      assert.deepStrictEqual(
        found.due.map(({ row, incident }) => [row.id, row.state, incident.id]),
        [
          [outboxIdOf("earliest"), "pending", incidentIdOf("c")],
          [outboxIdOf("earlier"), "retry", incidentIdOf("b")],
          [outboxIdOf("now"), "pending", incidentIdOf("a")],
        ],
      )
      assert.deepStrictEqual(found.expired, [])
      const first = yield* claimable(replica, 2)
      assert.deepStrictEqual(
        first.due.map(({ row }) => row.id),
        ids("earliest", "earlier"),
      )
      const both = yield* claimable(replica, 10, ["webhook", "debug", "messenger"])
      assert.deepStrictEqual(
        both.due.map(({ row }) => row.id),
        ids("earliest", "of another notifier", "earlier", "now"),
      )
      const firstOfBoth = yield* claimable(replica, 2, ["debug", "webhook"])
      assert.deepStrictEqual(
        firstOfBoth.due.map(({ row }) => row.id),
        ids("earliest", "of another notifier"),
      )
      assert.deepStrictEqual((yield* claimable(replica, 10, [])).due, [])
    }),
  )

  it.effect("no item before the earlier items of its incident and receiver have ended", () =>
    Effect.gen(function* () {
      // Items of one change are sent as they were written.
      const [first = "", second = ""] = ["one of a change", "another of it"].toSorted((a, b) =>
        outboxIdOf(a) < outboxIdOf(b) ? -1 : 1,
      )
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
        ["behind another of its kind", "g", { incident_seq: 2 }],
        ["another of its kind", "g", { incident_seq: 1, receiver: "second", next_attempt_at: after(60) }],
        [first, "h", { state: "retry", next_attempt_at: after(60) }],
        [second, "h", {}],
      ])
      const { due } = yield* claimable(replica, 100)
      assert.sameMembers(
        due.map(({ row }) => row.id),
        [...ids("due", "behind ended", "behind another notifier", "behind another of its kind")],
      )
    }),
  )

  it.effect("items without an incident are never claimed and take no place", () =>
    Effect.gen(function* () {
      const replica = yield* openWith(subject, [["due", "a", {}]])
      yield* write(replica, [], (unit) => {
        for (const n of Array.from({ length: 8 }, (_, index) => index))
          unit.outbox.put(outboxRecord(`orphan ${n}`, "gone", { next_attempt_at: after(-60 - n) }))
      })
      const { due } = yield* claimable(replica, 8)
      assert.deepStrictEqual(
        due.map(({ row }) => row.id),
        ids("due"),
      )
    }),
  )

  it.effect("items whose lease expired by the storage's clock, which it returns", () =>
    Effect.gen(function* () {
      const replica = yield* openWith(subject, [
        ["lost", "a", sending(LONG_AGO)],
        ["lost too", "b", sending(LONG_AGO)],
        ["held", "c", sending(FAR_OFF)],
        ["lost by another", "d", { ...sending(LONG_AGO), notifier: "webhook" }],
      ])
      const found = yield* claimable(replica, 10)
      assert.sameMembers(
        found.expired.map((row) => row.id),
        [...ids("lost", "lost too")],
      )
      assert.strictEqual((yield* claimable(replica, 1)).expired.length, 1)
      const [first = 0n, second = 0n] = [found.storageTime, (yield* claimable(replica, 1)).storageTime]
      assert.isTrue(first > LONG_AGO && first < FAR_OFF && second >= first, `${first} then ${second}`)
    }),
  )
}

/** A century later, by the clock of a process that is wrong. */
const WRONG_MILLIS = START_MILLIS + 100 * 365 * 86_400_000

const describeLeases = <Place>(subject: StorageUnderTest<Place>): void => {
  for (const { clock, millis } of [
    { clock: "ahead", millis: WRONG_MILLIS },
    { clock: "behind", millis: START_MILLIS },
  ]) {
    it.effect(`leases expire by the storage's clock when the process's clock is far ${clock}`, () =>
      Effect.gen(function* () {
        const replica = yield* openWith(subject, [])
        yield* TestClock.setTime(millis)
        const { storageTime } = yield* claimable(replica, 1)
        const [ended, held] = [
          Instant.minus(storageTime, Duration.hours(1)),
          Instant.plus(storageTime, Duration.hours(1)),
        ]
        yield* enqueue(replica, [
          ["ended", "a", sending(ended)],
          ["held", "b", sending(held)],
        ])
        yield* write(replica, [], (unit) => {
          for (const receiver of ALERT_RECEIVERS) {
            unit.alerts.put(alertRecord("a", { receiver, leased_until: ended }))
            unit.alerts.put(alertRecord("b", { receiver, leased_until: held }))
          }
        })
        assert.deepStrictEqual(
          (yield* claimable(replica, 10)).expired.map((row) => row.id),
          ids("ended"),
        )
        for (const receiver of ALERT_RECEIVERS) {
          const alerts = yield* search(replica, "claimableAlerts", { receiver, limit: 10 }, ({ due }) => due)
          assert.deepStrictEqual(
            alerts.map(({ row }) => row.incident_id),
            [incidentIdOf("a")],
          )
        }
      }),
    )
  }
}

const describeClaimRaces = <Place>(subject: StorageUnderTest<Place>): void => {
  race(subject, { name: "an item is claimed by one client, and a resolved after its firing" }, (replica) =>
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
        claimItems(replica(n).commits, { receivers: ["debug"], limit: 7, lease: Duration.hours(1) })
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

  race(subject, { name: "four workers send 800 items, each once and a resolved last" }, (replica) =>
    Effect.gen(function* () {
      const incidents = range(400)
      yield* enqueue(
        replica(0),
        incidents.flatMap((n) => [
          [`firing ${n}`, `${n}`, { incident_seq: 1 }] as const,
          [`resolved ${n}`, `${n}`, { incident_seq: 2, event_type: "resolved" }] as const,
        ]),
      )
      const sent: Array<{ readonly incident_id: string; readonly event_type: string }> = []
      const lease = Duration.hours(1)
      const work = (n: number): Effect.Effect<void, StorageError> =>
        Effect.gen(function* () {
          const { commits, storage } = replica(n)
          for (;;) {
            const claimed = yield* claimItems(commits, { receivers: ["debug"], limit: 50, lease })
            for (const item of claimed) {
              sent.push({ incident_id: item.claim.incident_id, event_type: item.notification.event_type })
              yield* transact(
                storage,
                recordResults([{ claim: item.claim, result: { outcome: "delivered" }, random: 0 }]),
              )
            }
            // Items of other processes may release later ones.
            if (claimed.length === 0 && sent.length === 2 * incidents.length) return
            yield* Effect.yieldNow
          }
        })
      yield* Effect.all(range(4).map(work), { concurrency: "unbounded" })
      const scenario = new Map<string, ReadonlyArray<string>>()
      for (const { incident_id, event_type } of sent) {
        scenario.set(incident_id, [...(scenario.get(incident_id) ?? []), event_type])
      }
      assert.strictEqual(scenario.size, incidents.length)
      for (const told of scenario.values()) assert.deepStrictEqual(told, ["firing", "resolved"])
      const first = yield* rowsOf(replica(1), "outbox", { state: "sent" })
      assert.strictEqual(first.length, 2 * incidents.length)
      assert.isTrue(first.every((row) => row.attempts === 1))
    }),
  )
}

/** Which items can be claimed, each by one process (docs/rules.md#outbox). */
export const claimSuite = <Place>(subject: StorageUnderTest<Place>): void => {
  describe("claims", () => {
    describeClaims(subject)
    describeLeases(subject)
    describeClaimRaces(subject)
  })
}
