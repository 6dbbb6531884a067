import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import type { Happening, Story } from "../firings/Story.ts"
import { Night } from "./Night.ts"
import { endOf, type Happened, type Seen, watchNight } from "./watchNight.ts"

const disk = (status: "warning" | "critical" | "ok"): Happening => ({
  step: "report",
  agent: "a",
  results: [{ check: "disk", status, loud: true }],
})

/** A worsening, a later step, a turn that ends, a reminder, an acknowledgement that runs out, a receiver that is down. */
const story: Story = {
  begins: "2031-02-01T08:30Z",
  receivers: ["ann", "bob", "chat"],
  policy: {
    rotas: { primary: { order: [["ann"], ["bob"]], every: 3_600, from: "2031-02-01T08:00" } },
    routes: [{ steps: [{ to: ["primary"] }, { after: 600, to: ["chat"] }], remind: 1_500 }],
  },
  steps: [
    { ...disk("warning"), wait: 20 },
    { ...disk("critical"), wait: 200 },
    { step: "answers", receiver: "bob", how: "defers", wait: 1_300 },
    { step: "answers", receiver: "bob", how: "accepts", wait: 400 },
    { step: "acknowledge", which: 0, lasts: 900, wait: 900 },
    { ...disk("ok"), wait: 3_000 },
  ],
}

/** A receiver on call takes nothing: the next turn stands beside it. */
const outOfReach: Story = {
  begins: "2031-02-01T08:30Z",
  receivers: ["ann", "bob", "chat"],
  policy: {
    rotas: { primary: { order: [["ann"], ["bob"]], every: 3_600 * 4, from: "2031-02-01T08:00" } },
    routes: [{ steps: [{ to: ["primary"] }, { after: 1_200, to: ["chat"] }] }],
  },
  steps: [
    { step: "answers", receiver: "ann", how: "is_down", wait: 10 },
    { ...disk("critical"), wait: 10 },
    { ...disk("ok"), wait: 3_000 },
  ],
}

type Change = (seen: Seen, one: Happened) => ReadonlyArray<Happened>

/** Slips of a service, as its receivers would see them. */
const SLIPS: Readonly<Record<string, Change>> = {
  missing: () => [],
  late: (_, one) => [{ ...one, at: one.at + 30 }],
  "five minutes late": (_, one) => [{ ...one, at: one.at + 300 }],
  "of another cause": (seen, one) =>
    one.is === "step" || seen.event === "resolved"
      ? []
      : [{ ...one, seen: { ...seen, cause: seen.cause === "opened" ? "worsened" : "opened" } }],
  "of another severity": (seen, one) =>
    one.is === "step" ? [] : [{ ...one, seen: { ...seen, rank: seen.rank === 3 ? 2 : 3 } }],
  twice: (seen, one) =>
    one.is === "step" ? [] : [one, { ...one, seen: { ...seen, id: `${seen.id} again` } }],
  "to another receiver": (seen, one) =>
    one.is === "step"
      ? []
      : [{ ...one, seen: { ...seen, receiver: seen.receiver === "ann" ? "bob" : "ann" } }],
}

const noticesAll = (story: Story, least: number) =>
  Effect.gen(function* () {
    const log = yield* watchNight(story)
    const judge = (happened: ReadonlyArray<Happened>) => new Night(story, endOf(story)).judge(happened)
    const whole = judge(log)
    assert.strictEqual(whole.verdict, "agrees", [...whole.trace, whole.why].join("\n"))
    const attempts = log.flatMap((one) => (one.is === "attempt" ? [one.seen] : []))
    assert.isAbove(attempts.length, least)
    for (const seen of attempts)
      for (const [slip, change] of Object.entries(SLIPS)) {
        const slipped = log
          .flatMap((one) => (one.is !== "step" && one.seen === seen ? change(seen, one) : [one]))
          .toSorted((one, other) => one.at - other.at)
        const { verdict } = judge(slipped)
        assert.notStrictEqual(verdict, "agrees", `${slip}: ${seen.at} ${seen.receiver} ${seen.cause}`)
      }
  })

it.live("the model of nights notices each slip at each attempt", () => noticesAll(story, 9))
it.live("the model of nights notices each slip where a receiver is out of reach", () =>
  noticesAll(outOfReach, 3),
)
