import { assert, describe, it } from "@effect/vitest"
import { compilePolicy } from "@tocsin/core/heart/policy/compilePolicy"
import { readPolicy } from "@tocsin/core/lists/readPolicy"
import { Duration, Effect, Result } from "effect"
import { report } from "../service/agents.ts"
import { NAMES, openUnder } from "./PolicyStory.ts"

/** The tests begin at half past, within such a window, which then lasts 25 min. */
const HOURLY = { name: "hourly", cron: "25 * * * *", tz: "Europe/Berlin", for: "30m" }

describe("a maintenance window", () => {
  it.effect("holds what it covers until it ends, and then sends what the incident shows", () =>
    Effect.gen(function* () {
      const { after, held, messages, turns } = yield* openUnder({
        windows: [{ ...HOURLY, match: ["check_id glob disk*"] }],
      })
      yield* turns("disk", "warning")
      assert.deepStrictEqual(yield* held, ["window:hourly until 25"])
      yield* turns("load", "critical")
      assert.deepStrictEqual(messages(), ["opened critical"])
      yield* after("24 minutes")
      assert.strictEqual(messages().length, 1)
      yield* after("65 seconds")
      assert.deepStrictEqual(messages().slice(1), ["opened warning"])
      assert.deepStrictEqual(yield* held, [])
    }),
  )

  it.effect("ends for an incident that a member joins which it does not cover", () =>
    Effect.gen(function* () {
      const { after, held, messages, turns } = yield* openUnder({
        windows: [{ ...HOURLY, match: ["check_id glob disk*"] }],
      })
      yield* turns("disk-a", "warning", { key: "storage" })
      yield* turns("load", "warning", { key: "storage" })
      yield* after("10 seconds")
      assert.deepStrictEqual(messages(), ["opened warning"])
      assert.deepStrictEqual(yield* held, [])
    }),
  )

  it.effect("holds the resolved of no incident, and discards a firing that it held", () =>
    Effect.gen(function* () {
      const { after, items, messages, turns } = yield* openUnder({
        windows: [{ ...HOURLY, match: ["check_id glob disk*"] }],
      })
      yield* turns("disk", "warning")
      yield* turns("disk", "ok")
      yield* after("1 hour")
      assert.deepStrictEqual(messages(), [])
      assert.deepStrictEqual(
        items().map(({ state }) => state),
        ["discarded"],
      )
    }),
  )
})

/**
 * A window's zone and cron, when it begins, and after how many minutes the zone's clock shows that time
 * again. Without them, the clock is set forward over it.
 */
const NIGHTS = [
  ["Europe/Berlin", "30 2 29 3 *", "2026-03-29T01:00:00Z", undefined],
  ["Europe/Berlin", "30 2 25 10 *", "2026-10-25T00:30:00Z", 60],
  ["America/New_York", "30 2 8 3 *", "2026-03-08T07:00:00Z", undefined],
  ["America/New_York", "30 1 1 11 *", "2026-11-01T05:30:00Z", 60],
  ["Australia/Lord_Howe", "15 2 4 10 *", "2026-10-03T15:30:00Z", undefined],
  ["Australia/Lord_Howe", "45 1 5 4 *", "2026-04-04T14:45:00Z", 30],
] as const

describe("a window in a night in which the clock changes", () => {
  it.effect.each(NIGHTS)("in %s at %s begins once, at %s", ([tz, cron, starts, again]) =>
    Effect.gen(function* () {
      const { after, held, messages, turns } = yield* openUnder(
        { windows: [{ name: "night", cron, tz, for: "5m", match: ["check_id = disk"] }] },
        { at: Date.parse(starts) - 60_000 },
      )
      yield* turns("disk", "warning")
      yield* turns("disk", "ok")
      assert.deepStrictEqual(messages(), ["opened warning", "resolved warning"])
      yield* after("61 seconds")
      yield* turns("disk", "critical")
      assert.deepStrictEqual(yield* held, ["window:night until 6"])
      yield* after("4 minutes")
      assert.strictEqual(messages().length, 2)
      yield* after("65 seconds")
      assert.deepStrictEqual(messages().slice(2), ["opened critical"])
      if (again === undefined) return
      yield* after(Duration.minutes(again - 4))
      yield* turns("disk", "ok")
      yield* turns("disk", "warning")
      assert.deepStrictEqual(messages().slice(3), ["resolved critical", "opened warning"])
    }),
  )
})

describe("a route's after", () => {
  it.effect("holds a firing from its enqueueing on, and sends it where the incident is still open", () =>
    Effect.gen(function* () {
      const { after, held, items, messages, turns } = yield* openUnder({
        routes: [{ match: ["check_id = disk"], after: "10m" }],
      })
      yield* turns("disk", "warning")
      assert.deepStrictEqual(yield* held, ["after until 10"])
      assert.deepStrictEqual(
        items().map(({ next_attempt_at }) => next_attempt_at),
        [undefined],
      )
      yield* turns("load", "critical")
      assert.deepStrictEqual(messages(), ["opened critical"])
      yield* after("595 seconds")
      assert.strictEqual(messages().length, 1)
      yield* after("15 seconds")
      assert.deepStrictEqual(messages().slice(1), ["opened warning"])
    }),
  )
})

describe("a firing that was held by a policy that is no longer in force", () => {
  it.effect("is looked at again a minute after the change", () =>
    Effect.gen(function* () {
      const { after, messages, service } = yield* openUnder({})
      // As a claim under way does, this process decides by the former policy after the change.
      const late = yield* service.open("late", { delivers: false })
      const holding = { routes: [{ after: "1h" }] }
      yield* late.policy.replace(compilePolicy(Result.getOrThrow(readPolicy(holding, NAMES)), NAMES))
      yield* after("10 seconds")
      yield* Effect.orDie(report(late, [{ check: "disk", status: "critical" }]))
      yield* after("40 seconds")
      assert.deepStrictEqual(messages(), [])
      yield* after("20 seconds")
      assert.deepStrictEqual(messages(), ["opened critical"])
    }),
  )
})
