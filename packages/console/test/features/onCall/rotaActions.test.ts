import { assert, describe, it } from "@effect/vitest"
import { momentText } from "../../../src/format/times.ts"
import { previewOf, type Turn } from "../../../src/features/onCall/rotaActions.ts"

const HOUR = 3_600_000
const NOW = Date.parse("2026-12-09T20:30:00Z")

/** Turns of an hour, from half an hour ago. */
const turnsOf = (...order: ReadonlyArray<ReadonlyArray<string>>): ReadonlyArray<Turn> =>
  order.map((receivers, place) => {
    const from = NOW - HOUR / 2 + place * HOUR
    return { from, to: from + HOUR, receivers, by: "turn" }
  })

const textOf = (turns: ReadonlyArray<Turn>, receivers: ReadonlyArray<string>, hours: number) =>
  previewOf(turns, { receivers, to: NOW + hours * HOUR }, NOW).text

describe("the preview of an override", () => {
  const turns = turnsOf(["ann", "ann_mail"], ["bob"], ["carl"])
  const at = (hours: number) => momentText(NOW + hours * HOUR, NOW)

  it("says who comes, leaves and stays, who is left out, and who follows", () => {
    assert.strictEqual(
      textOf(turns, ["carl"], 0.25),
      `Now carl comes and ann, ann_mail leave. At ${at(0.25)}, ann, ann_mail follow.`,
    )
    assert.strictEqual(
      textOf(turns, ["ann", "dora"], 2),
      `Now dora comes and ann_mail leaves and ann stays. Without it, bob, carl would come before its end. At ${at(2)}, carl follows.`,
    )
    assert.strictEqual(
      textOf(turnsOf(["ann"], ["ann"]), ["ann"], 1),
      `Now ann stays. At ${at(1)}, ann follows.`,
    )
  })

  it("has the one who follows from the end on, also where a turn ends with it", () => {
    const to = NOW + HOUR / 2
    const preview = previewOf(turns, { receivers: ["carl"], to }, NOW)
    assert.deepStrictEqual(preview.turns, [
      { from: NOW, to, receivers: ["carl"], by: "override", instead: ["ann", "ann_mail"] },
      { from: to, to: to + HOUR, receivers: ["bob"], by: "turn" },
    ])
  })
})
