import { assert, describe, it } from "@effect/vitest"
import { propertyRuns } from "@tocsin/testing/propertyRuns"
import { episodeFaults } from "./episodeProperties.ts"
import { EPISODES } from "./inForce.ts"
import { playModel } from "./playModel.ts"
import { randomEpisode } from "./randomEpisode.ts"

const USUAL = 20_000
const TAIL = 2_000

describe("episodes of random stories", () => {
  it("have the properties that the rules state, on the model", () => {
    const causes = new Set<string | undefined>()
    for (let number = 0; number < propertyRuns(USUAL); number++) {
      const story = randomEpisode(number)
      const course = playModel(story, TAIL, EPISODES)
      const arrivals = course.messages.map((message) => ({ ...message, at: message.from }))
      const faults = episodeFaults(story, course, { arrivals, attempts: course.attempts })
      assert.deepStrictEqual(faults, [], `story ${number}: ${JSON.stringify([story.policy, course.steps])}`)
      for (const { cause } of course.messages) causes.add(cause)
    }
    assert.includeMembers([...causes], ["opened", "worsened", "escalation", "ack_ran_out", "reminder"])
  })
})
