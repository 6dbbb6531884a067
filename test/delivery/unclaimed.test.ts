import type { NotifierName } from "@tocsin/core/contract/Status"
import { claimOutbox } from "@tocsin/core/notifications/claimOutbox"
import { discardUnclaimed } from "@tocsin/core/notifications/operatorDecisions"
import { settleAttempt } from "@tocsin/core/notifications/settleAttempt"
import * as Housekeeping from "@tocsin/core/usecases/Housekeeping"
import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect } from "effect"
import { TestClock } from "effect/testing"
import { itemsOf } from "./outboxOf.ts"
import { delivered, makeReceivers } from "./Receivers.ts"
import { AGENT, enroll, report } from "./reports.ts"
import { settled } from "./settled.ts"
import { openSite, type Site } from "./Site.ts"

const NOTIFIERS: ReadonlyArray<NotifierName> = ["debug", "webhook"]

const open = Effect.gen(function* () {
  const receivers = makeReceivers({ answerTo: () => delivered })
  const site = yield* openSite({ receivers, notifiers: NOTIFIERS, deadAfter: Duration.days(30) })
  const front = yield* site.open("front", { delivers: false })
  yield* enroll(front, AGENT)
  return { site, front }
})

const states = (site: Site) =>
  itemsOf(site).map((item) => `${item.notifier} ${item.event_type} ${item.state}`)

describe("what is to be sent by a notifier", () => {
  it.effect("that is configured nowhere is discarded after a day", () =>
    Effect.gen(function* () {
      const { site, front } = yield* open
      yield* report(front, [{ check: "disk", status: "critical" }])
      yield* TestClock.adjust(Duration.minutes(23 * 60 + 55))
      yield* site.open("keeper", { configured: ["debug"], background: Housekeeping.layer })
      yield* settled
      assert.deepStrictEqual(states(site), ["debug firing sent", "webhook firing pending"])
      yield* TestClock.adjust(Duration.minutes(11))
      assert.deepStrictEqual(states(site), ["debug firing sent", "webhook firing discarded"])
    }),
  )

  it.effect("that no program has any more is discarded after a day, whatever its name", () =>
    Effect.gen(function* () {
      const receivers = makeReceivers({ answerTo: () => delivered })
      const site = yield* openSite({ receivers, notifiers: ["debug", "pager"], deadAfter: Duration.days(30) })
      const front = yield* site.open("front", { delivers: false })
      yield* enroll(front, AGENT)
      yield* report(front, [{ check: "disk", status: "critical" }])
      yield* TestClock.adjust(Duration.minutes(24 * 60 + 1))
      yield* site.open("keeper", { configured: ["debug"], background: Housekeeping.layer })
      yield* settled
      assert.deepStrictEqual(states(site), ["debug firing sent", "pager firing discarded"])
    }),
  )

  it.effect("that was being sent when its notifier went is discarded a day after the lease ran out", () =>
    Effect.gen(function* () {
      const { site, front } = yield* open
      const { transact } = front.storage
      yield* report(front, [{ check: "disk", status: "critical" }])
      const lease = Duration.seconds(60)
      yield* transact(claimOutbox({ notifiers: ["webhook"], limit: 5, lease, random: 0 }))
      yield* site.open("keeper", { configured: ["debug"], background: Housekeeping.layer })
      yield* TestClock.adjust(Duration.hours(24))
      assert.deepStrictEqual(states(site), ["debug firing sent", "webhook firing sending"])
      yield* TestClock.adjust(Duration.minutes(12))
      assert.deepStrictEqual(states(site), ["debug firing sent", "webhook firing discarded"])
    }),
  )

  it.effect("that was being sent for the last time is a dead letter", () =>
    Effect.gen(function* () {
      const { site, front } = yield* open
      const { transact } = front.storage
      yield* report(front, [{ check: "disk", status: "critical" }])
      yield* TestClock.adjust(Duration.hours(24))
      const lease = Duration.seconds(60)
      yield* transact(claimOutbox({ notifiers: ["webhook"], limit: 5, lease, random: 0 }))
      yield* TestClock.adjust(Duration.hours(25))
      assert.strictEqual(yield* transact(discardUnclaimed(["webhook"], 5)), 1)
      assert.deepStrictEqual(states(site), ["debug firing pending", "webhook firing failed"])
    }),
  )

  it.effect("that another process is busy with is left to that one, and so is what waits for its turn", () =>
    Effect.gen(function* () {
      const { site, front } = yield* open
      const { transact } = front.storage
      yield* report(front, [{ check: "disk", status: "warning" }])
      yield* report(front, [{ check: "disk", status: "critical" }])
      const ofWebhook = () => states(site).filter((state) => state.startsWith("webhook"))
      yield* TestClock.adjust(Duration.hours(23))
      const lease = Duration.seconds(60)
      const claimed = yield* transact(claimOutbox({ notifiers: ["webhook"], limit: 5, lease, random: 0 }))
      assert.strictEqual(claimed.length, 1)
      for (const { claim } of claimed)
        yield* transact(settleAttempt(claim, { outcome: "deferred", error: "503" }, 0))
      yield* TestClock.adjust(Duration.hours(2))
      assert.deepStrictEqual(ofWebhook(), ["webhook firing retry", "webhook firing pending"])
      assert.strictEqual(yield* transact(discardUnclaimed(["webhook"], 100)), 0)
      assert.deepStrictEqual(ofWebhook(), ["webhook firing retry", "webhook firing pending"])
      yield* TestClock.adjust(Duration.hours(24))
      assert.strictEqual(yield* transact(discardUnclaimed(["webhook"], 100)), 2)
    }),
  )

  it.effect("is discarded with all that waits behind it, in pieces", () =>
    Effect.gen(function* () {
      const { site, front } = yield* open
      yield* report(front, [{ check: "disk", status: "warning" }])
      yield* report(front, [{ check: "disk", status: "critical" }])
      yield* report(front, [{ check: "load", status: "critical" }])
      yield* TestClock.adjust(Duration.hours(24))
      const discard = front.storage.transact(discardUnclaimed(["webhook"], 2))
      assert.strictEqual(yield* discard, 0)
      yield* TestClock.adjust(1)
      assert.strictEqual(yield* discard, 2)
      assert.strictEqual(yield* discard, 1)
      assert.strictEqual(yield* discard, 0)
      assert.deepStrictEqual(
        new Set(states(site)),
        new Set(["debug firing pending", "webhook firing discarded"]),
      )
      // A discarded firing told nobody, so the next trouble is told again.
      yield* report(front, [{ check: "disk", status: "warning" }])
      yield* report(front, [{ check: "disk", status: "critical" }])
      assert.strictEqual(states(site).filter((state) => state === "webhook firing pending").length, 1)
    }),
  )
})
