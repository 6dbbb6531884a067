import { assert, describe, it } from "@effect/vitest"
import process from "node:process"
import { explore } from "./explore.ts"
import { ALPHABET, enrolled, type Move } from "./moves.ts"
import { SHALLOW, smallWorlds, wordsOf } from "./smallWorlds.ts"
import { copied, emptyWorld } from "./World.ts"

describe("small worlds, exhaustively", () => {
  it.each(smallWorlds(SHALLOW))("$name", ({ explore, name }) => {
    const explored = explore()
    process.stdout.write(`${wordsOf(name, explored)}\n`)
    if (explored.broken !== undefined) assert.fail(wordsOf(name, explored))
  })

  it("name the moves that lead to a planted defect", () => {
    const forget: Move = {
      name: "the members are forgotten",
      make: (world) => {
        const after = copied(world)
        after.tables.keyed.incident_member.clear()
        return { world: after }
      },
    }
    const start = enrolled(emptyWorld(Infinity))
    const { broken } = explore(start, [...ALPHABET, forget], { depth: 2, isSymmetric: true })
    assert.deepStrictEqual(broken?.path, ["agent-a disk critical", "the members are forgotten"])
  })
})
