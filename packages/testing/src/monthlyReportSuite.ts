import { assert, describe, it } from "@effect/vitest"
import * as Instant from "@tocsin/contract/formats/Instant"
import { recordReport, renewReport, takeReport } from "@tocsin/core/features/report/monthlyDecisions"
import { reportName } from "@tocsin/core/features/report/MonthlyReportRecord"
import { likewise } from "@tocsin/core/kernel/unitOfWork/Decision"
import { Duration, Effect } from "effect"
import { TestClock } from "effect/testing"
import { expireAll } from "./expireAll.ts"
import { atOnce, race } from "./race.ts"
import { openReplica, type Replica } from "./Replica.ts"
import { START_MILLIS } from "./samples.ts"
import type { StorageUnderTest } from "./StorageUnderTest.ts"
import { transact } from "./transact.ts"

const receiver = "office"
const KEY = { receiver, month: "2026-01" }
const DAY = 86_400_000

const takingIn = (tz: string) =>
  takeReport({
    receiver,
    tz,
    lease: Duration.minutes(1),
    isUsable: true,
    newId: (now: Instant.Instant) => `id ${now}`,
  })
const taking = takingIn("UTC")

const take = ({ storage }: Replica) => transact(storage, taking)

/** Makes the row of January on its last day. */
const begins = Effect.fnUntraced(function* ({ storage }: Replica) {
  const lastDay = Instant.fromMillis(START_MILLIS)
  assert.isUndefined(
    yield* transact(
      storage,
      likewise(taking, (unit) => taking(unit, lastDay)),
    ),
  )
})

/** Servers that find one report due at the same time. */
export const monthlyReportRaceSuite = <Place>(subject: StorageUnderTest<Place>): void => {
  race(subject, { name: "of servers that find the report of a month due, one takes it" }, (replica) =>
    Effect.gen(function* () {
      yield* begins(replica(0))
      const due = likewise(taking, (unit) => taking(unit, Instant.fromMillis(START_MILLIS + DAY)))
      const taken = yield* Effect.forEach([0, 1, 2, 3, 4], (n) => transact(replica(n).storage, due), atOnce)
      assert.lengthOf(
        taken.filter((one) => one !== undefined),
        1,
      )
    }),
  )
}

/** Decisions about reports of months (docs/rules.md#monthly-reports). */
export const monthlyReportSuite = <Place>(subject: StorageUnderTest<Place>): void => {
  describe("the report of a month", () => {
    it.effect("is one attempt's until that ends, and is removed by the retention of incidents", () =>
      Effect.gen(function* () {
        const replica = yield* openReplica(subject)
        const { storage } = replica
        const row = Effect.map(storage.rows("monthly_report", [reportName(KEY)]), ([found]) => found)
        yield* begins(replica)
        yield* TestClock.setTime(START_MILLIS + DAY)
        const taken = (yield* take(replica)) ?? assert.fail("nothing is due")
        const claimed = { ...KEY, attempts: taken.attempts }
        yield* TestClock.adjust("50 seconds")
        yield* transact(storage, renewReport(claimed, Duration.minutes(1)))
        yield* TestClock.adjust("50 seconds")
        assert.isUndefined(yield* take(replica))
        yield* TestClock.adjust("11 seconds")
        const again = (yield* take(replica)) ?? assert.fail("nothing is due")
        assert.strictEqual(again.id, taken.id)
        // The end of an attempt that lost its claim changes nothing.
        const recipients = [{ address: "ann@example.org" }]
        yield* transact(storage, recordReport(claimed, { outcome: "delivered" }, 0.5))
        assert.deepInclude(yield* row, { state: "waiting", attempts: 2 })
        const deferred = { outcome: "deferred", error: "The mail server is down.", recipients } as const
        yield* transact(storage, recordReport({ ...KEY, attempts: 2 }, deferred, 0.5))
        assert.deepInclude(yield* row, { state: "waiting", last_error: deferred.error, recipients })
        yield* TestClock.adjust("1 minute")
        assert.deepInclude((yield* take(replica)) ?? {}, { attempts: 3, recipients })
        yield* transact(storage, recordReport({ ...KEY, attempts: 3 }, { outcome: "delivered" }, 0.5))
        assert.deepInclude(yield* row, { state: "sent", last_error: undefined, next_attempt_at: undefined })
        const before = (yield* row)?.due_at ?? assert.fail("no row")
        yield* expireAll(storage, { rule: "monthly_reports", before, limit: 9 })
        assert.isDefined(yield* row)
        yield* expireAll(storage, {
          rule: "monthly_reports",
          before: Instant.plus(before, Duration.millis(1)),
          limit: 9,
        })
        assert.isUndefined(yield* row)
      }),
    )

    it.effect("is tried for 24 hours after 8:00 of the zone that its reader has by then", () =>
      Effect.gen(function* () {
        const { storage } = yield* openReplica(subject)
        yield* TestClock.setTime(START_MILLIS)
        yield* transact(storage, takingIn("Pacific/Kiritimati"))
        yield* TestClock.adjust("34 hours")
        const taken =
          (yield* transact(storage, takingIn("Pacific/Honolulu"))) ?? assert.fail("nothing is due")
        const deferred = { outcome: "deferred", error: "The mail server is down.\0" } as const
        yield* transact(storage, recordReport({ ...KEY, attempts: taken.attempts }, deferred, 0.5))
        const [row] = yield* storage.rows("monthly_report", [reportName(KEY)])
        assert.deepInclude(row, { state: "waiting", attempts: 1 })
      }),
    )
  })
}
