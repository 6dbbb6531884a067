import { assert, describe, it } from "@effect/vitest"
import { whyText } from "@tocsin/core/heart/notifications/whyText"
import { Effect } from "effect"
import { delivered, refused } from "../service/Receivers.ts"
import { openFiringCase } from "./FiringCase.ts"

const STEPS = { steps: [{ to: ["chat"] }, { after: "15m", to: ["pager"] }] }

/** The lines of messages to a receiver that say why they come. */
const whyTo = ({ service }: Effect.Success<ReturnType<typeof openFiringCase>>, receiver: string) =>
  service.receivers.arrivals
    .filter(({ notification }) => notification.receiver === receiver && notification.event_type === "firing")
    .map(({ notification }) => whyText(notification))

describe("messages say why they come (docs/rules.md#why-a-message-comes)", () => {
  it.effect("of a worsening, what was announced before", () =>
    Effect.gen(function* () {
      const story = yield* openFiringCase({ routes: [{ to: ["chat"] }] })
      yield* story.turns("warning")
      yield* story.turns("unknown")
      yield* story.turns("warning")
      yield* story.turns("critical")
      assert.deepStrictEqual(whyTo(story, "chat"), [
        undefined,
        "Worse than before: was warning",
        "Worse than before: was warning",
      ])
    }),
  )

  it.effect("of a worsening that a silence held, what was announced before it", () =>
    Effect.gen(function* () {
      const story = yield* openFiringCase({ routes: [{ to: ["chat"] }] })
      yield* story.turns("warning")
      yield* story.silences("disk", 30)
      yield* story.turns("critical")
      yield* story.after("31 minutes")
      assert.deepStrictEqual(whyTo(story, "chat"), [undefined, "Worse than before: was warning"])
    }),
  )

  it.effect("of a worsening beyond an acknowledgement, to all that know more", () =>
    Effect.gen(function* () {
      const story = yield* openFiringCase({ routes: [{ to: ["chat"] }] })
      yield* story.turns("critical")
      yield* story.turns("warning")
      yield* story.acknowledges(60)
      yield* story.turns("critical")
      assert.deepStrictEqual(whyTo(story, "chat"), [undefined, "Worse than before: was warning"])
    }),
  )

  it.effect("of a later step, since when nobody acknowledged", () =>
    Effect.gen(function* () {
      const story = yield* openFiringCase({ routes: [STEPS] })
      yield* story.turns("critical")
      yield* story.after("16 minutes")
      yield* story.acknowledges(60)
      yield* story.after("76 minutes")
      assert.deepStrictEqual(whyTo(story, "pager"), [
        "Nobody acknowledged for 15 min",
        "Acknowledgement by library ran out",
        "Nobody acknowledged for 15 min",
      ])
    }),
  )

  it.effect("of a reminder, how long the incident is open", () =>
    Effect.gen(function* () {
      const story = yield* openFiringCase({ routes: [{ to: ["chat"], remind: "1h" }] })
      yield* story.turns("critical")
      yield* story.after("125 minutes")
      assert.deepStrictEqual(whyTo(story, "chat"), [
        undefined,
        "Reminder: open for 1 h",
        "Reminder: open for 2 h",
      ])
    }),
  )

  it.effect("of a turn, since when its receiver is on call, by the clock of the policy", () =>
    Effect.gen(function* () {
      const primary = { order: ["chat", "pager"], every: "1h", from: "2026-01-01T00:00" }
      const document = { tz: "Europe/Berlin", rotas: { primary }, routes: [{ to: ["primary"] }] }
      const story = yield* openFiringCase(document)
      yield* story.turns("critical")
      yield* story.after("90 minutes")
      const turns = story.service.receivers.arrivals.map(({ notification }) => notification)
      assert.deepStrictEqual(
        turns.map(({ cause }) => cause),
        ["opened", "opened", "handover"],
      )
      for (const turn of turns.slice(1))
        assert.match(whyText(turn) ?? "", /^On call for primary since 2026-\d\d-\d\d \d\d:00 CES?T$/u)
    }),
  )

  it.effect("of one that is owed again, what the refused one said, also after a hold", () =>
    Effect.gen(function* () {
      const primary = { order: ["chat", "pager"], every: "1h", from: "2026-01-01T00:00" }
      const story = yield* openFiringCase({ rotas: { primary }, routes: [{ to: ["primary"] }] })
      const { after, service, silences, turns } = story
      yield* turns("critical")
      service.receivers.answerWith(refused, { notifier: "pager" })
      yield* after("31 minutes")
      service.receivers.answerWith(delivered, { notifier: "pager" })
      yield* silences("disk", 5)
      yield* turns("critical", { check: "load", key: "other" })
      yield* after("1 minute")
      assert.deepStrictEqual(whyTo(story, "pager"), [undefined])
      yield* after("5 minutes")
      assert.deepStrictEqual(whyTo(story, "pager"), [
        undefined,
        "On call for primary since 2026-01-31 09:00 UTC",
      ])
    }),
  )

  it.effect("of one beside a receiver out of reach, who that is", () =>
    Effect.gen(function* () {
      const primary = { order: ["chat", "pager"], every: "31d", from: "2026-01-15T00:00" }
      const story = yield* openFiringCase({ rotas: { primary }, routes: [{ to: ["primary"] }] })
      story.service.receivers.answerWith(refused, { notifier: "chat" })
      yield* story.turns("critical")
      yield* story.after("15 seconds")
      assert.deepStrictEqual(whyTo(story, "pager"), ["Could not reach chat"])
    }),
  )

  it.effect("of one beside a turn of two receivers, which of them was not reached", () =>
    Effect.gen(function* () {
      const primary = { order: [["chat", "mail"], "pager"], every: "31d", from: "2026-01-15T00:00" }
      const story = yield* openFiringCase({ rotas: { primary }, routes: [{ to: ["primary"] }] })
      story.service.receivers.answerWith(refused, { notifier: "chat" })
      yield* story.turns("critical")
      yield* story.after("15 seconds")
      assert.deepStrictEqual(whyTo(story, "pager"), ["Could not reach chat"])
    }),
  )
})
