import { assert, describe, it } from "@effect/vitest"
import { propertyRuns, propertySeed } from "@tocsin/testing/propertyRuns"
import { AT_LENGTH, inTurn } from "../properties/atLength.ts"
import { defects } from "./defects.ts"
import { simulateSystem, type Simulated } from "./simulateSystem.ts"
import { scenarioOf } from "./scenarioOf.ts"

const FIRST_SEED = propertySeed ?? Math.trunc(performance.timeOrigin)
const SEEDS = propertyRuns(300)
/** Each planted defect shows within so many scenarios. */
const SEEDS_OF_A_DEFECT = 100
/** The simulation finds all of them at length, and some in each run. */
const PLANTED = Object.keys(defects).filter((_, at) => AT_LENGTH || at % 3 === 2)
/** A seed draws and repeats each run by the same code, with whichever defect: a run has that of one defect. */
const REPEATED = inTurn(PLANTED, 0)

const firstBroken = async (defect: string): Promise<Simulated> => {
  for (let seed = 1; seed <= SEEDS_OF_A_DEFECT; seed++) {
    const found = await simulateSystem(seed, defects[defect]?.())
    if (found.broken.length > 0) return found
  }
  return assert.fail(`no scenario shows that ${defect}`)
}

describe("the whole system on one virtual clock, with faults drawn from a seed", () => {
  it("keeps every law", async () => {
    for (let seed = FIRST_SEED; seed < FIRST_SEED + SEEDS; seed++) {
      const simulated = await simulateSystem(seed)
      if (simulated.broken.length > 0) assert.fail(scenarioOf(simulated))
    }
  })

  it("repeats the scenario of a seed byte for byte", async () => {
    const [first, second] = [await simulateSystem(FIRST_SEED), await simulateSystem(FIRST_SEED)]
    assert.isAbove(first.log.length, 100)
    assert.strictEqual(first.log.join("\n"), second.log.join("\n"))
  })

  it.each(PLANTED)("shows a planted defect: %s", async (defect) => {
    const found = await firstBroken(defect)
    if (!REPEATED.includes(defect)) return
    const again = await simulateSystem(found.seed, defects[defect]?.())
    assert.deepStrictEqual(again.broken, found.broken)
    assert.strictEqual(again.log.join("\n"), found.log.join("\n"))
  })
})
