import { AgentId } from "@tocsin/contract/formats/Identifiers"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { heartbeatOf } from "@tocsin/testing/samples"
import { propertyRuns } from "@tocsin/testing/propertyRuns"
import { batchReply } from "./Action.ts"
import { changedFields } from "./changedFields.ts"
import { NaiveAdmission } from "./NaiveAdmission.ts"
import { admission, SIZE } from "./Scenario.ts"
import { driveService, type DrivenService } from "./DrivenService.ts"

const arbitrary = { runs: propertyRuns(300), size: SIZE, maxShrinks: 3_000 }
const maxPendingAgents = 2
const limit = 500

const listed = Effect.fnUntraced(function* (driven: DrivenService) {
  const agents = (yield* driven.queries().agents({ limit })).items
  const blacklist = (yield* driven.queries().blacklist({ limit })).items
  const shown: { readonly agents: ReadonlyArray<object>; readonly blacklist: ReadonlyArray<object> } = {
    agents: agents.map(({ features: _, status: __, ...agent }) => agent),
    blacklist: blacklist.toSorted((a, b) => (a.id < b.id ? -1 : 1)),
  }
  return shown
})

describe("admission", () => {
  it.effect.prop(
    "answers and lists like a naive model of docs/rules.md, for any keys and operators",
    { steps: admission },
    ({ steps }) =>
      Effect.gen(function* () {
        const driven = yield* driveService({ maxPendingAgents })
        const naive = new NaiveAdmission(maxPendingAgents)
        for (const step of steps) {
          for (const { action, now, reply } of yield* driven.play([step])) {
            const expected = naive.take(action, now)
            assert.deepStrictEqual(batchReply(reply) === undefined ? reply : undefined, expected)
            assert.deepStrictEqual(yield* listed(driven), {
              agents: naive.agents(),
              blacklist: naive.blacklist(),
            })
          }
        }
      }),
    { arbitrary },
  )

  it.effect.prop(
    "changes nothing when it refuses, except when a blocked key was last seen",
    { steps: admission },
    ({ steps }) =>
      Effect.gen(function* () {
        const driven = yield* driveService({ maxPendingAgents })
        for (const { action, reply, before, after } of yield* driven.play(steps)) {
          if (typeof reply !== "string") continue
          const mayChange =
            reply === "AgentBlocked" && action.action === "heartbeat" ? ["key.last_seen_at"] : []
          assert.includeMembers(mayChange, [...changedFields(before, after)])
        }
      }),
    { arbitrary },
  )

  it.effect("of all agents counts each of them, however many there are", () =>
    Effect.gen(function* () {
      // More than two pieces of 200, so that a piece begins after another, ends with it, and is not
      // full.
      const agents = 450
      const driven = yield* driveService()
      const register = Effect.forEach(
        Array.from({ length: agents }, (_, number) => `agent-${number}`),
        (agent) => driven.perform({ action: "heartbeat", key: agent, request: heartbeatOf(agent) }),
      )
      const count = (action: "block_all" | "remove_all" | "unblock_all") =>
        Effect.map(driven.perform({ action }), ({ reply }) => reply)
      yield* register
      assert.deepStrictEqual(yield* count("remove_all"), { count: agents })
      yield* register
      assert.deepStrictEqual(yield* count("block_all"), { count: agents })
      assert.strictEqual(driven.rows().agents.size, 0)
      assert.deepStrictEqual(yield* count("unblock_all"), { count: agents })
      yield* register
      yield* driven.perform({ action: "accept", agent_id: AgentId.make("agent-0") })
      const { reply } = yield* driven.perform({ action: "accept_all", includeRotation: true })
      assert.deepStrictEqual(reply, { count: agents - 1 })
      assert.deepStrictEqual(yield* count("block_all"), { count: 0 })
    }),
  )
})
