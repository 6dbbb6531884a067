import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { AT_LENGTH } from "../properties/atLength.ts"
import { deferred, delivered } from "../service/Receivers.ts"
import { openFiringCase } from "./FiringCase.ts"

/** Chat first, the pager after a quarter of an hour. */
const STEPS = { steps: [{ to: ["chat"] }, { after: "15m", to: ["pager"] }] }

describe("who is owed a firing, and when (docs/rules.md#firings)", () => {
  it.effect("a later step begins where a worsening ends an acknowledgement", () =>
    Effect.gen(function* () {
      const { acknowledges, after, messages, turns } = yield* openFiringCase({ routes: [STEPS] })
      yield* turns("critical")
      yield* after("4 minutes")
      yield* turns("warning")
      yield* acknowledges(120)
      yield* after("4 minutes")
      yield* turns("critical")
      yield* after("14 minutes")
      assert.deepStrictEqual(messages().slice(1), ["8 min: chat worsened critical"])
      yield* after("2 minutes")
      assert.deepStrictEqual(messages().slice(2), ["23 min: pager escalation critical"])
    }),
  )

  it.effect("a receiver named and not named every 10 s keeps one row and its time", () =>
    Effect.gen(function* () {
      const { after, firings, messages, turns } = yield* openFiringCase({
        routes: [
          { match: ["severity = warning"], after: "1m", to: ["chat"] },
          { match: ["severity = critical"], to: ["pager"] },
        ],
      })
      for (let at = 0; at < 6; at++) {
        yield* turns(at % 2 === 0 ? "warning" : "critical")
        assert.deepStrictEqual(messages().length, at === 0 ? 0 : 1)
        assert.strictEqual(firings("chat").length, 1)
        yield* after("10 seconds")
      }
      yield* turns("warning")
      yield* after("30 seconds")
      assert.deepStrictEqual(messages(), ["0 min: pager opened critical", "1 min: chat opened warning"])
      assert.strictEqual(firings("chat").length, 1)
    }),
  )

  it.effect("a retry ends with its acknowledgement also where no route names its receiver any more", () =>
    Effect.gen(function* () {
      const { acknowledges, after, firings, messages, service, turns } = yield* openFiringCase({
        routes: [
          { match: ["severity = critical"], to: ["chat"] },
          { match: ["severity = warning"], to: ["pager"] },
        ],
      })
      service.receivers.answerWith(deferred, { notifier: "chat" })
      yield* turns("critical")
      yield* acknowledges(20)
      yield* turns("warning")
      yield* after("21 minutes")
      assert.deepStrictEqual(messages(), ["20 min: pager ack_ran_out warning"])
      assert.deepStrictEqual(
        firings("chat").map(({ next_evaluation_at, state }) => [state, next_evaluation_at]),
        [["discarded", undefined]],
      )
    }),
  )

  it.effect("of 501 loud members, the mildest names no receiver until another one leaves", () =>
    Effect.gen(function* () {
      const { after, messages, reports } = yield* openFiringCase({
        routes: [
          { match: ["severity = critical"], to: ["chat"] },
          { match: ["severity = warning"], to: ["pager"] },
        ],
      })
      const names = Array.from({ length: 500 }, (_, at) => `disk-${at}`)
      for (let at = 0; at < names.length; at += 100)
        yield* reports(...names.slice(at, at + 100).map((check) => ({ check, status: "critical" as const })))
      yield* reports({ check: "load", status: "warning" })
      yield* after("1 minute")
      assert.deepStrictEqual(messages(), ["0 min: chat opened critical"])
      yield* reports({ check: "disk-7", status: "ok" })
      yield* after("15 seconds")
      assert.deepStrictEqual(messages().slice(1), ["1 min: pager opened critical"])
    }),
  )

  it.effect("of 501 loud members, the mildest stays named where it has a row", () =>
    Effect.gen(function* () {
      const { after, messages, reports } = yield* openFiringCase({
        routes: [
          { match: ["severity = critical"], to: ["chat"] },
          { match: ["severity = warning"], after: "10m", to: ["pager"] },
        ],
      })
      yield* reports({ check: "load", status: "warning" })
      yield* after("1 minute")
      const names = Array.from({ length: 500 }, (_, at) => `disk-${at}`)
      for (let at = 0; at < names.length; at += 100)
        yield* reports(...names.slice(at, at + 100).map((check) => ({ check, status: "critical" as const })))
      yield* after("15 minutes")
      assert.deepStrictEqual(messages(), ["1 min: chat opened critical", "10 min: pager opened critical"])
    }),
  )
})

describe("a policy that changes while an incident is open", () => {
  it.effect("notifies the receiver that replaces another at the same time, and the other never", () =>
    Effect.gen(function* () {
      const { after, follows, messages, turns } = yield* openFiringCase({
        routes: [{ after: "10m", to: ["chat"] }],
      })
      yield* turns("critical")
      yield* after("5 minutes")
      yield* follows({ routes: [{ after: "10m", to: ["pager"] }] })
      yield* after("4 minutes")
      assert.deepStrictEqual(messages(), [])
      yield* after("2 minutes")
      assert.deepStrictEqual(messages(), ["10 min: pager opened critical"])
      yield* turns("ok")
      yield* after("1 hour")
      assert.deepStrictEqual(messages().slice(1), ["11 min: pager resolved critical"])
    }),
  )
  it.effect("changes the cause of a firing that a silence holds", () =>
    Effect.gen(function* () {
      const { after, firings, follows, silences, turns } = yield* openFiringCase({
        routes: [{ to: ["pager"] }],
      })
      yield* silences("disk", 60)
      yield* turns("critical")
      yield* after("20 minutes")
      yield* follows({ routes: [STEPS] })
      yield* after("15 seconds")
      assert.deepStrictEqual(
        firings("pager").map(({ cause }) => cause),
        ["escalation"],
      )
    }),
  )
})

/** How many incidents are open as a receiver is added. */
const ADDED_TO = AT_LENGTH ? 10_000 : 100

describe("an added receiver", () => {
  it.effect("is notified of new incidents first, then of those that were open", () =>
    Effect.gen(function* () {
      const { after, follows, reports, service } = yield* openFiringCase(
        { routes: [{ to: ["chat"] }] },
        { concurrency: 1 },
      )
      const checks = Array.from({ length: ADDED_TO }, (_, at) => `disk-${at}`)
      yield* reports(...checks.map((check) => ({ check, key: check, status: "critical" as const })))
      yield* after("5 minutes")
      // All of them take 100 s.
      const answeringMillis = 100_000 / ADDED_TO
      service.receivers.answerWith({ ...delivered, answeringMillis }, { notifier: "pager" })
      yield* follows({ routes: [{ to: ["chat", "pager"] }] })
      yield* after("20 seconds")
      const keys = () =>
        service.receivers.arrivals
          .filter(({ notification: { receiver } }) => receiver === "pager")
          .map(({ notification: { incident } }) => String(incident.incident_key))
      const before = keys().length
      assert.isAbove(before, 0)
      yield* reports({ check: "load", key: "load", status: "critical" })
      yield* after("10 seconds")
      assert.include(keys(), "load")
      assert.isBelow(keys().length, checks.length)
      yield* after("5 minutes")
      assert.sameMembers(keys(), [...checks, "load"])
    }),
  )
})
