import { assert, describe, it } from "@effect/vitest"
import { heldIncidents } from "@tocsin/core/heart/firings/readHolds"
import * as Instant from "@tocsin/contract/formats/Instant"
import { Duration, Effect } from "effect"
import { openUnder } from "./PolicyStory.ts"

/** The tests begin at 09:30 in Berlin, on a Saturday. */
const MORNING = { hours: "08:00-10:00", tz: "Europe/Berlin", below: "critical" }

const policyWith = (quiet: object, routes: ReadonlyArray<object> = []) => ({
  receivers: { chat: { kind: "debug", quiet } },
  routes,
})

describe("quiet hours", () => {
  it.effect("hold milder firings until they end, and then send what the incident shows", () =>
    Effect.gen(function* () {
      const { after, held, messages, turns } = yield* openUnder(policyWith(MORNING))
      yield* turns("disk", "warning")
      assert.deepStrictEqual(yield* held, ["quiet until 30"])
      yield* turns("disk", "unknown")
      yield* after("29 minutes")
      assert.deepStrictEqual(messages(), [])
      yield* after("65 seconds")
      assert.deepStrictEqual(messages(), ["opened unknown"])
      assert.deepStrictEqual(yield* held, [])
    }),
  )

  it.effect.each([
    { pager: {}, until: [] },
    { pager: { quiet: { ...MORNING, hours: "08:00-11:00" } }, until: [30] },
  ])("hold an incident until the first end where all its receivers are quiet: $until", ({ pager, until }) =>
    Effect.gen(function* () {
      const { process, service, turns } = yield* openUnder({
        receivers: { chat: { kind: "debug", quiet: MORNING }, pager: { kind: "debug", ...pager } },
      })
      const now = yield* Instant.now
      yield* turns("disk", "warning")
      const options = { policy: process.policy.current, staleAfter: Duration.minutes(2) }
      const ids = Array.from(service.rows().incidents.values(), ({ id }) => id)
      const held = Array.from((yield* process.commits.transact(heldIncidents(ids, options))).values())
      assert.deepStrictEqual(
        held.map(({ held_until = now }) => Number(held_until - now) / 60_000_000),
        until,
      )
    }),
  )

  it.effect("let a critical incident and its resolved through", () =>
    Effect.gen(function* () {
      const { messages, turns } = yield* openUnder(policyWith(MORNING))
      yield* turns("disk", "critical")
      yield* turns("disk", "ok")
      assert.deepStrictEqual(messages(), ["opened critical", "resolved critical"])
    }),
  )

  it.effect("hold reminders, which follow once they end", () =>
    Effect.gen(function* () {
      const quiet = { ...MORNING, hours: "09:40-10:30" }
      const { after, messages, turns } = yield* openUnder(policyWith(quiet, [{ remind: "20m" }]))
      yield* turns("disk", "warning")
      yield* after("59 minutes")
      assert.deepStrictEqual(messages(), ["opened warning"])
      yield* after("65 seconds")
      assert.deepStrictEqual(messages(), ["opened warning", "reminder warning"])
    }),
  )

  it.effect("count by the day on which they begin", () =>
    Effect.gen(function* () {
      const overnight = { ...MORNING, hours: "22:00-10:00" }
      const friday = yield* openUnder(policyWith({ ...overnight, days: "fri" }))
      yield* friday.turns("disk", "warning")
      assert.deepStrictEqual(yield* friday.held, ["quiet until 30"])
      const weekend = yield* openUnder(policyWith({ ...overnight, days: "sat,sun" }))
      yield* weekend.turns("disk", "warning")
      assert.deepStrictEqual(weekend.messages(), ["opened warning"])
    }),
  )

  it.effect("hold nothing any more under a policy without them", () =>
    Effect.gen(function* () {
      const { after, messages, replace, turns } = yield* openUnder(policyWith(MORNING))
      yield* turns("disk", "warning")
      yield* replace({ receivers: { chat: { kind: "debug" } } })
      yield* after("20 seconds")
      assert.deepStrictEqual(messages(), ["opened warning"])
    }),
  )
})

/** Each night with a moment in its hours, and their end. */
const NIGHTS = [
  ["Europe/Berlin", "22:00-02:30", "2026-03-29T00:30Z", "2026-03-29T01:00Z"],
  ["Europe/Berlin", "22:00-02:30", "2026-10-24T23:30Z", "2026-10-25T00:30Z"],
  ["Europe/Berlin", "22:00-07:00", "2026-10-25T05:30Z", "2026-10-25T06:00Z"],
  ["America/New_York", "02:15-03:30", "2026-03-08T07:00Z", "2026-03-08T07:30Z"],
] as const

describe("quiet hours in a night in which the clock changes", () => {
  it.effect.each(NIGHTS)("in %s of %s at %s end at %s", ([tz, hours, begins, ends]) =>
    Effect.gen(function* () {
      const [from, to] = [Date.parse(begins), Date.parse(ends)]
      const { after, held, messages, turns } = yield* openUnder(policyWith({ ...MORNING, tz, hours }), {
        at: from,
      })
      yield* turns("disk", "warning")
      const minutes = (to - from) / 60_000
      assert.deepStrictEqual(yield* held, [`quiet until ${minutes}`])
      yield* after(Duration.minutes(minutes - 1))
      assert.deepStrictEqual(messages(), [])
      yield* after("65 seconds")
      assert.deepStrictEqual(messages(), ["opened warning"])
    }),
  )
})
