import { assert, describe, it } from "@effect/vitest"
import { propertyRuns } from "@tocsin/testing/propertyRuns"
import { drawsOf } from "../system/Draws.ts"
import { playModel } from "./playModel.ts"
import { addRotas } from "./randomRotas.ts"
import { randomStory } from "./randomStory.ts"
import { notifiedTwice } from "./notifiedTwice.ts"

const USUAL = 100

describe("the model of firings in random stories with rotas", () => {
  it("has no receiver notified twice for one cause", () => {
    let handovers = 0
    for (let number = 0; number < propertyRuns(USUAL); number++) {
      const { messages } = playModel(addRotas(drawsOf(number), randomStory(number)), 1_300)
      assert.deepStrictEqual(notifiedTwice(messages.map((message) => ({ ...message, at: message.from }))), [])
      handovers += messages.filter(({ cause }) => cause === "handover").length
    }
    assert.isAbove(handovers, 0)
  })
})
