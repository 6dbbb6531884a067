import { assert, describe, it } from "@effect/vitest"
import { propertyRuns } from "@tocsin/testing/propertyRuns"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { playModel } from "./playModel.ts"
import { differences, playService } from "./playService.ts"
import { randomStory } from "./randomStory.ts"

const USUAL = 40
/** Longer than every delay and reminder after the last step. */
const TAIL = 2_400

describe("random stories of policies, results, acts of people and outages", () => {
  it.effect("lead to the messages that the model of firings expects, and to no other", () =>
    Effect.gen(function* () {
      let expected = 0
      for (let number = 0; number < propertyRuns(USUAL); number++) {
        const story = randomStory(number)
        const course = playModel(story, TAIL)
        expected += course.messages.length
        const arrivals = yield* playService(story, course).pipe(Effect.provide(TestClock.layer()))
        const found = differences(course, arrivals)
        const steps = course.steps.map((step) => JSON.stringify(step))
        assert.deepStrictEqual(found, [], [`story ${number}`, ...steps, ...found].join("\n"))
      }
      assert.isAbove(expected, 0)
    }),
  )
})
