import { assert, describe, it } from "@effect/vitest"
import { namesInForce } from "@tocsin/core/model/OutboxRecord"
import { Effect } from "effect"
import { deferred, delivered } from "../service/Receivers.ts"
import { documentOf, openFiringCase } from "./FiringCase.ts"

/** Chat first, the pager after a quarter of an hour. */
const STEPS = { steps: [{ to: ["chat"] }, { after: "15m", to: ["pager"] }] }

describe("the holds of a firing (docs/rules.md#holds)", () => {
  it.effect(
    "a silenced check that recovers leaves a silent one: nothing is sent until a loud one joins",
    () =>
      Effect.gen(function* () {
        const { after, messages, reports, silences, turns } = yield* openFiringCase({
          routes: [{ to: ["chat"] }],
        })
        yield* silences("disk", 60)
        yield* turns("critical")
        yield* reports({ check: "load", status: "warning", loud: false })
        yield* after("10 minutes")
        yield* turns("ok")
        yield* after("1 hour")
        assert.deepStrictEqual(messages(), [])
        yield* reports({ check: "load", status: "critical" })
        yield* after("15 seconds")
        assert.deepStrictEqual(messages(), ["70 min: chat opened critical"])
      }),
  )

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

  it.effect(
    "a silent worsening leaves an acknowledgement, whose end sends nothing without a loud member",
    () =>
      Effect.gen(function* () {
        const { acknowledges, after, incident, messages, turns } = yield* openFiringCase({ routes: [STEPS] })
        yield* turns("warning")
        yield* after("5 minutes")
        yield* acknowledges(60)
        yield* turns("critical", { loud: false })
        assert.isDefined(incident().ack_until)
        yield* after("2 hours")
        assert.deepStrictEqual(messages(), ["0 min: chat opened warning"])
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

  it.effect("an acknowledgement in the instant of the opening holds until it expires", () =>
    Effect.gen(function* () {
      const { acknowledges, after, messages, turns } = yield* openFiringCase({
        routes: [{ after: "10m", ...STEPS }],
      })
      yield* turns("critical")
      yield* acknowledges(60)
      yield* after("59 minutes")
      assert.deepStrictEqual(messages(), [])
      yield* after("2 minutes")
      assert.deepStrictEqual(messages(), [
        "60 min: chat ack_ran_out critical",
        "60 min: pager ack_ran_out critical",
      ])
      yield* after("1 hour")
      assert.strictEqual(messages().length, 2)
    }),
  )

  it.effect("an escalation due in an outage is not sent if the check recovers within 2 min after it", () =>
    Effect.gen(function* () {
      const { after, isDownFor, messages, turns } = yield* openFiringCase({ routes: [STEPS] })
      yield* turns("critical")
      yield* after("10 minutes")
      yield* isDownFor("10 minutes")
      yield* after("90 seconds")
      yield* turns("ok")
      yield* after("1 hour")
      assert.deepStrictEqual(messages(), ["0 min: chat opened critical", "21 min: chat resolved critical"])
    }),
  )

  it.effect("a reminder due in an outage comes once, after the 2 min in which agents report", () =>
    Effect.gen(function* () {
      const { after, isDownFor, messages, turns } = yield* openFiringCase({
        routes: [{ remind: "30m", to: ["chat"] }],
      })
      yield* turns("critical")
      yield* after("20 minutes")
      yield* isDownFor("20 minutes")
      yield* after("110 seconds")
      assert.strictEqual(messages().length, 1)
      yield* after("40 seconds")
      assert.deepStrictEqual(messages().slice(1), ["42 min: chat reminder critical"])
    }),
  )

  it.effect("a receiver that is down gets no reminder before its firing", () =>
    Effect.gen(function* () {
      const { after, firings, messages, service, turns } = yield* openFiringCase({
        routes: [{ remind: "15m", to: ["chat"] }],
      })
      service.receivers.answerWith(deferred)
      yield* turns("critical")
      yield* after("20 minutes")
      assert.deepStrictEqual(messages(), [])
      assert.strictEqual(firings("chat").length, 1)
      service.receivers.answerWith(delivered)
      // The fifth retry: 5 s, 30 s, 2, 5 and 15 min after one another.
      yield* after("3 minutes")
      assert.deepStrictEqual(messages(), ["22 min: chat opened critical"])
      yield* after("15 minutes")
      assert.deepStrictEqual(messages().slice(1), ["37 min: chat reminder critical"])
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

  it.effect("a firing with a delay keeps it when a worsening ends the acknowledgement", () =>
    Effect.gen(function* () {
      const { acknowledges, after, messages, turns } = yield* openFiringCase({
        routes: [{ to: ["chat"] }, { after: "10m", to: ["pager"] }],
      })
      yield* turns("warning")
      yield* acknowledges(60)
      yield* after("3 minutes")
      yield* turns("critical")
      yield* after("6 minutes")
      assert.deepStrictEqual(messages(), ["0 min: chat opened warning", "3 min: chat worsened critical"])
      yield* after("2 minutes")
      assert.deepStrictEqual(messages().slice(2), ["10 min: pager opened critical"])
    }),
  )

  it.effect("a firing waits for the 2 min after an outage once, whatever outage follows", () =>
    Effect.gen(function* () {
      const { after, isDownFor, messages, turns } = yield* openFiringCase({ routes: [STEPS] })
      yield* turns("critical")
      yield* after("10 minutes")
      yield* isDownFor("10 minutes")
      yield* after("1 minute")
      assert.strictEqual(messages().length, 1)
      yield* isDownFor("10 minutes")
      yield* after("15 seconds")
      assert.deepStrictEqual(messages().slice(1), ["31 min: pager escalation critical"])
    }),
  )

  it.effect("it waits so once also if an acknowledgement held it after that outage", () =>
    Effect.gen(function* () {
      const { acknowledges, after, isDownFor, messages, turns } = yield* openFiringCase({ routes: [STEPS] })
      yield* turns("critical")
      yield* after("10 minutes")
      yield* isDownFor("10 minutes")
      yield* after("1 minute")
      yield* acknowledges(10)
      yield* after("2 minutes")
      yield* isDownFor("10 minutes")
      yield* after("15 seconds")
      assert.deepStrictEqual(messages().slice(1), ["33 min: pager ack_ran_out critical"])
    }),
  )
})
