import { assert, describe, it } from "@effect/vitest"
import { namesInForce } from "@tocsin/core/heart/model/OutboxRecord"
import { Effect } from "effect"
import { documentOf, openFiringCase } from "./FiringCase.ts"

describe("the holds of a firing (docs/rules.md#holds)", () => {
  it.effect("a silent worsening under a silence sends nothing when the silence ends", () =>
    Effect.gen(function* () {
      const { after, firings, messages, silences, turns } = yield* openFiringCase({
        routes: [{ to: ["chat"] }],
      })
      yield* silences("disk", 30)
      yield* turns("warning")
      yield* after("10 minutes")
      yield* turns("critical", { loud: false })
      yield* after("40 minutes")
      assert.deepStrictEqual(messages(), [])
      yield* turns("ok")
      yield* after("1 minute")
      assert.deepStrictEqual(messages(), [])
      assert.deepStrictEqual(
        firings("chat").map(({ state }) => state),
        ["discarded"],
      )
    }),
  )

  it.effect("one that is first seen with others behind it takes their place soon", () =>
    Effect.gen(function* () {
      const hourly = { name: "hourly", cron: "25 * * * *", tz: "Europe/Berlin", for: "30m" }
      const policy = { windows: [{ ...hourly, match: ["check_id = disk"] }], routes: [{ to: ["chat"] }] }
      const { routes } = policy
      const front = { delivers: false, keepsHouse: false }
      const { after, firings, messages, service, turns } = yield* openFiringCase({ routes }, front)
      yield* turns("warning")
      yield* turns("critical")
      yield* service.open("sender", { keepsHouse: true, rules: { policy: documentOf(policy) } })
      yield* after("15 seconds")
      const states = () => firings("chat").map((item) => [item.state, ...namesInForce(item)])
      assert.sameDeepMembers(states(), [["discarded"], ["pending", "window:hourly"]])
      yield* after("26 minutes")
      assert.deepStrictEqual(messages(), ["25 min: chat opened critical"])
    }),
  )

  it.effect("a firing held by an acknowledgement that expires is followed by reminders", () =>
    Effect.gen(function* () {
      const { acknowledges, after, messages, turns } = yield* openFiringCase({
        routes: [{ remind: "15m", to: ["chat"] }],
      })
      yield* turns("critical")
      yield* acknowledges(60)
      yield* after("61 minutes")
      yield* after("30 minutes")
      assert.deepStrictEqual(messages(), [
        "0 min: chat opened critical",
        "60 min: chat ack_ran_out critical",
        "75 min: chat reminder critical",
        "90 min: chat reminder critical",
      ])
    }),
  )

  it.effect("a held firing that is no longer owed becomes the reminder, and others follow it", () =>
    Effect.gen(function* () {
      const { after, firings, messages, silences, turns } = yield* openFiringCase({
        routes: [{ remind: "15m", to: ["chat"] }],
      })
      yield* turns("warning")
      yield* after("1 minute")
      yield* silences("disk", 5)
      yield* turns("critical")
      yield* after("1 minute")
      yield* turns("warning")
      yield* after("10 minutes")
      assert.strictEqual(firings("chat").length, 2)
      yield* after("22 minutes")
      assert.deepStrictEqual(messages(), [
        "0 min: chat opened warning",
        "15 min: chat reminder warning",
        "30 min: chat reminder warning",
      ])
    }),
  )

  it.effect("it waits so once also if an acknowledgement held it after that outage", () =>
    Effect.gen(function* () {
      const { acknowledges, after, isDownFor, messages, turns } = yield* openFiringCase({
        routes: [{ after: "15m", to: ["pager"] }],
      })
      yield* turns("critical")
      yield* after("10 minutes")
      yield* isDownFor("10 minutes")
      yield* after("1 minute")
      yield* acknowledges(10)
      yield* after("2 minutes")
      yield* isDownFor("10 minutes")
      yield* after("15 seconds")
      assert.deepStrictEqual(messages(), ["33 min: pager ack_ran_out critical"])
    }),
  )
})
