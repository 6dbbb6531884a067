import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { batchReply } from "./Action.ts"
import { NaiveAdmission } from "./NaiveAdmission.ts"
import { admission, SIZE } from "./Scenario.ts"
import { openWorld, type World } from "./World.ts"

const arbitrary = { runs: 500, size: SIZE, maxShrinks: 3_000 }
const maxPendingAgents = 2
const everything = { limit: 500 }

const listed = Effect.fnUntraced(function* (world: World) {
  const agents = (yield* world.queries().agents(everything)).items
  const blacklist = (yield* world.queries().blacklist(everything)).items
  const shown: { readonly agents: ReadonlyArray<object>; readonly blacklist: ReadonlyArray<object> } = {
    agents: agents.map(({ features: _, status: __, ...agent }) => agent),
    blacklist: blacklist.toSorted((a, b) => (a.id < b.id ? -1 : 1)),
  }
  return shown
})

describe("admission", () => {
  it.effect.prop(
    "answers and lists what a naive reading of the decisions does, whatever keys and operators do",
    { steps: admission },
    ({ steps }) =>
      Effect.gen(function* () {
        const world = yield* openWorld({ maxPendingAgents })
        const naive = new NaiveAdmission(maxPendingAgents)
        for (const step of steps) {
          for (const { action, now, reply } of yield* world.play([step])) {
            const expected = naive.take(action, now)
            assert.deepStrictEqual(batchReply(reply) === undefined ? reply : undefined, expected)
            assert.deepStrictEqual(yield* listed(world), { agents: naive.agents(), blacklist: naive.blacklist() })
          }
        }
      }),
    { arbitrary },
  )
})
