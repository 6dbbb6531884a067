import { discardUnclaimed } from "@tocsin/core/heart/notifications/discardUnclaimed"
import { recordResults } from "@tocsin/core/heart/notifications/recordResults"
import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, Result } from "effect"
import type { NotifierName } from "@tocsin/contract/formats/Status"
import * as Instant from "@tocsin/contract/formats/Instant"
import { signedBy } from "@tocsin/testing/signedBy"
import { endReplica, reportReplica } from "@tocsin/core/heart/replicas/reportReplica"
import { compilePolicy } from "@tocsin/core/heart/policy/compilePolicy"
import { readPolicy } from "@tocsin/core/lists/readPolicy"
import { AGENT, enroll, report } from "../service/agents.ts"
import { openService } from "../service/Service.ts"
import { settled } from "../service/settled.ts"
import { openTimeline } from "../service/Timeline.ts"
import { claimItems } from "@tocsin/testing/claimItems"

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
    claimForWebhook: claimItems(process.commits, { receivers: ["webhook"], limit: 5, lease: LEASE }),
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
      assert.strictEqual(yield* transact(discardUnclaimed(["debug"], 5)), 1)
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
        yield* transact(recordResults([{ claim, result: { outcome: "deferred", error: "503" }, random: 0 }]))
      yield* after("2 hours")
      assert.deepStrictEqual(ofWebhook(), ["webhook firing retry", "webhook firing pending"])
      assert.strictEqual(yield* transact(discardUnclaimed(["debug"], 100)), 0)
      assert.deepStrictEqual(ofWebhook(), ["webhook firing retry", "webhook firing pending"])
      yield* after("24 hours")
      assert.strictEqual(yield* transact(discardUnclaimed(["debug"], 100)), 2)
    }),
  )

  it.effect("is discarded with the items that wait for it, in bounded pieces", () =>
    Effect.gen(function* () {
      const { agent, disk, after, states, transact } = yield* openIdle()
      yield* disk.turns("warning")
      yield* disk.turns("critical")
      yield* agent().reports({ check: "load", status: "critical" })
      yield* after("24 hours")
      const discard = transact(discardUnclaimed(["debug"], 2))
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

/** Processes that report their receivers when told to, over one storage. */
const openNamed = Effect.fnUntraced(function* () {
  const service = yield* openService({ notifiers: ["debug"], deadAfter: Duration.days(365) })
  const open = Effect.fnUntraced(function* (name: string, receivers: ReadonlyArray<string>) {
    const process = yield* service.open(name, { delivers: false })
    let listed = receivers
    const reports = Effect.gen(function* () {
      const started_at = yield* Instant.now
      const policy_hash = listed.join()
      const row = {
        id: name,
        version: "1",
        policy_hash,
        started_at,
        receivers: listed,
        probes: false,
        isEmptyPolicy: false,
      }
      yield* process.commits.transact(reportReplica(row, signedBy("system")))
    })
    const follows = Effect.fnUntraced(function* (names: ReadonlyArray<string>) {
      listed = names
      yield* process.policy.replace(compilePolicy(policyOf(names), []))
      yield* reports
    })
    const discards = Effect.suspend(() => process.commits.transact(discardUnclaimed(listed, 100)))
    const turns = (check: string, status: "warning" | "critical") =>
      Effect.andThen(Effect.orDie(report(process, [{ check, status }])), settled)
    const stops = process.commits.transact(endReplica(name))
    yield* follows(receivers)
    return { process, follows, reports, discards, stops, turns }
  })
  const states = () =>
    Array.from(service.rows().outbox.values(), ({ receiver, state }) => `${receiver} ${state}`).toSorted()
  return { open, passes: service.passes, states }
})

const policyOf = (names: ReadonlyArray<string>) =>
  Result.getOrThrow(
    readPolicy(
      {
        receivers: Object.fromEntries(
          names.map((name) => [name, { kind: "messenger", url_file: `/run/secrets/${name}` }]),
        ),
        windows: [
          { name: "always", cron: "* * * * *", tz: "UTC", for: "1h", match: ["check_id glob held*"] },
        ],
      },
      [],
    ),
  )

describe("an item of a receiver that a reload removes", () => {
  it.effect("is discarded once no live replica has listed its receiver for a day, held or not", () =>
    Effect.gen(function* () {
      const { open, passes, states } = yield* openNamed()
      const { discards, follows, process, reports, turns } = yield* open("first", ["chat", "night"])
      yield* enroll(process, AGENT)
      yield* turns("disk", "critical")
      yield* turns("held", "critical")
      yield* passes("10 hours")
      yield* follows(["chat"])
      yield* passes("24 hours")
      yield* reports
      assert.strictEqual(yield* discards, 0)
      yield* passes("1 second")
      assert.strictEqual(yield* discards, 2)
      assert.deepStrictEqual(states(), ["chat pending", "chat pending", "night discarded", "night discarded"])
    }),
  )

  it.effect("stays while another replica lists it, and for a day after that one stops or crashes", () =>
    Effect.gen(function* () {
      const { open, passes, states } = yield* openNamed()
      const first = yield* open("first", ["chat", "night"])
      yield* enroll(first.process, AGENT)
      yield* first.turns("disk", "critical")
      const second = yield* open("second", ["chat", "night"])
      yield* first.follows(["chat"])
      for (const end of [second.stops, Effect.void]) {
        yield* passes("3 days")
        yield* second.reports
        yield* end
        yield* passes("24 hours")
        yield* first.reports
        assert.strictEqual(yield* first.discards, 0)
      }
      assert.deepStrictEqual(states(), ["chat pending", "night pending"])
      yield* passes("1 second")
      assert.strictEqual(yield* first.discards, 1)
      assert.deepStrictEqual(states(), ["chat pending", "night discarded"])
    }),
  )

  it.effect("waits for its receiver, which returns within the day", () =>
    Effect.gen(function* () {
      const { open, passes, states } = yield* openNamed()
      const first = yield* open("first", ["chat", "night"])
      yield* enroll(first.process, AGENT)
      yield* first.turns("disk", "critical")
      yield* first.follows(["chat"])
      yield* passes("23 hours")
      yield* first.follows(["chat", "night"])
      yield* passes("3 days")
      assert.strictEqual(yield* first.discards, 0)
      assert.deepStrictEqual(states(), ["chat pending", "night pending"])
    }),
  )
})
