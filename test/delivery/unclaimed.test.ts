import { claimOutbox } from "@tocsin/core/notifications/claimOutbox"
import { discardUnclaimed } from "@tocsin/core/notifications/discardUnclaimed"
import { settleAttempt } from "@tocsin/core/notifications/settleAttempt"
import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect } from "effect"
import type { NotifierName } from "@tocsin/core/contract/Status"
import { openTimeline } from "../service/Timeline.ts"

const LEASE = Duration.seconds(60)

/** A service whose only process delivers nothing, for two notifiers. */
const openIdle = Effect.fnUntraced(function* (notifiers: ReadonlyArray<NotifierName> = ["debug", "webhook"]) {
  const timeline = yield* openTimeline({
    notifiers,
    deadAfter: Duration.days(30),
    process: { delivers: false },
  })
  const { service, process, outbox, after } = timeline
  const states = () => outbox.items().map((item) => `${item.notifier} ${item.event_type} ${item.state}`)
  return {
    ...timeline,
    transact: process.commits.transact,
    /** Starts a process that delivers for `debug` alone, and does the housekeeping. */
    openKeeper: Effect.andThen(service.open("keeper", { configured: ["debug"], keepsHouse: true }), after(0)),
    claimForWebhook: process.commits.transact(
      claimOutbox({ notifiers: ["webhook"], limit: 5, lease: LEASE, random: 0 }),
    ),
    states,
    has: (...expected: ReadonlyArray<string>) =>
      Effect.sync(() => assert.deepStrictEqual(states(), expected)),
  }
})

describe("an item whose notifier no process is configured for", () => {
  it.effect("is discarded after a day", () =>
    Effect.gen(function* () {
      const { disk, after, has, openKeeper } = yield* openIdle()
      yield* disk.turns("critical")
      yield* after(Duration.minutes(23 * 60 + 55))
      yield* openKeeper
      yield* has("debug firing sent", "webhook firing pending")
      yield* after("11 minutes")
      yield* has("debug firing sent", "webhook firing discarded")
    }),
  )

  it.effect("is discarded after a day even if its notifier no longer exists", () =>
    Effect.gen(function* () {
      const { disk, after, has, openKeeper } = yield* openIdle(["debug", "pager"])
      yield* disk.turns("critical")
      yield* after(Duration.minutes(24 * 60 + 1))
      yield* openKeeper
      yield* has("debug firing sent", "pager firing discarded")
    }),
  )

  it.effect("is discarded a day after its lease expired if it was being sent", () =>
    Effect.gen(function* () {
      const { disk, after, has, openKeeper, claimForWebhook } = yield* openIdle()
      yield* disk.turns("critical")
      yield* claimForWebhook
      yield* openKeeper
      yield* after("24 hours")
      yield* has("debug firing sent", "webhook firing sending")
      yield* after("12 minutes")
      yield* has("debug firing sent", "webhook firing discarded")
    }),
  )

  it.effect("is a dead letter if it was being sent for the last time", () =>
    Effect.gen(function* () {
      const { disk, after, has, transact, claimForWebhook } = yield* openIdle()
      yield* disk.turns("critical")
      yield* after("24 hours")
      yield* claimForWebhook
      yield* after("25 hours")
      assert.strictEqual(yield* transact(discardUnclaimed(["webhook"], 5)), 1)
      yield* has("debug firing pending", "webhook firing failed")
    }),
  )

  it.effect("stays while another process works on it or on an item before it", () =>
    Effect.gen(function* () {
      const { disk, after, states, transact, claimForWebhook } = yield* openIdle()
      yield* disk.turns("warning")
      yield* disk.turns("critical")
      const ofWebhook = () => states().filter((state) => state.startsWith("webhook"))
      yield* after("23 hours")
      const claimed = yield* claimForWebhook
      assert.strictEqual(claimed.length, 1)
      for (const { claim } of claimed)
        yield* transact(settleAttempt(claim, { outcome: "deferred", error: "503" }, 0))
      yield* after("2 hours")
      assert.deepStrictEqual(ofWebhook(), ["webhook firing retry", "webhook firing pending"])
      assert.strictEqual(yield* transact(discardUnclaimed(["webhook"], 100)), 0)
      assert.deepStrictEqual(ofWebhook(), ["webhook firing retry", "webhook firing pending"])
      yield* after("24 hours")
      assert.strictEqual(yield* transact(discardUnclaimed(["webhook"], 100)), 2)
    }),
  )

  it.effect("is discarded with the items that wait for it, in bounded pieces", () =>
    Effect.gen(function* () {
      const { agent, disk, after, states, transact } = yield* openIdle()
      yield* disk.turns("warning")
      yield* disk.turns("critical")
      yield* agent().reports({ check: "load", status: "critical" })
      yield* after("24 hours")
      const discard = transact(discardUnclaimed(["webhook"], 2))
      assert.strictEqual(yield* discard, 0)
      yield* after(1)
      assert.strictEqual(yield* discard, 2)
      assert.strictEqual(yield* discard, 1)
      assert.strictEqual(yield* discard, 0)
      assert.deepStrictEqual(new Set(states()), new Set(["debug firing pending", "webhook firing discarded"]))
      // A discarded firing notified nobody, so the next change notifies again.
      yield* disk.turns("warning")
      yield* disk.turns("critical")
      assert.strictEqual(states().filter((state) => state === "webhook firing pending").length, 1)
    }),
  )
})
