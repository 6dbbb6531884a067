import { assert, describe, it } from "@effect/vitest"
import { propertyRuns } from "@tocsin/testing/propertyRuns"
import { Effect } from "effect"
import { MINUTE_MOVES } from "./FloodModel.ts"
import { floodStory } from "./floodStory.ts"
import { playFlood, wantedMessages } from "./playFlood.ts"

const USUAL = 300
const EVERY_MOVE = Object.entries(MINUTE_MOVES).flatMap(([state, moves]) =>
  Object.keys(moves).map((trigger) => `${state} ${trigger}`),
)

describe("messages of random floods (docs/rules.md#floods)", () => {
  const moves = new Set<string>()

  for (let number = 0; number < propertyRuns(USUAL); number++)
    it.effect(`are those of the model: story ${number}`, () =>
      Effect.gen(function* () {
        const played = yield* playFlood(number)
        const { messages, minutes } = wantedMessages(played)
        for (const move of minutes) moves.add(move)
        const story = JSON.stringify(floodStory(number).steps)
        assert.deepStrictEqual(played.messages.toSorted(), messages.toSorted(), story)
      }),
    )

  it("had each move of a minute", () => {
    assert.sameMembers(Array.from(moves), EVERY_MOVE)
  })
})
