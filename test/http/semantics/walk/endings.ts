import { assert } from "@effect/vitest"
import { Effect } from "effect"
import {
  accept,
  agentPath,
  block,
  event,
  heartbeat,
  newAgent,
  pendingAgent,
  push,
  type TestAgent,
} from "../../client/TestAgent.ts"
import { operate } from "../../client/call.ts"
import { pageOf } from "../../client/itemsOf.ts"
import type { Transcript } from "../Transcript.ts"
import { expectBody, expectCode } from "./expectations.ts"
import { look } from "./look.ts"
import { at, critical } from "./results.ts"

/** Blocking, the blacklist, deletion and another life. */
export const endings = Effect.fnUntraced(function* (transcript: Transcript, agent: TestAgent) {
  for (const id of ["p-1", "p-2", "p-3"]) yield* pendingAgent(id)
  expectBody(yield* operate("POST", "/api/v1/agents/admission/block-all"), 200, { count: 3 })
  expectBody(yield* operate("POST", "/api/v1/agents/admission/block-all"), 200, { count: 0 })
  const pending = yield* pendingAgent("p-4")
  expectBody(yield* operate("POST", "/api/v1/agents/admission/remove-all"), 200, { count: 1 })
  expectCode(yield* push(pending, event()), "403 agent_not_accepted")
  yield* look(transcript, "blocked")
  const { items } = yield* pageOf("/api/v1/agents/admission/blacklist")
  assert.lengthOf(items, 4)
  const [row = {}] = items
  expectBody(yield* operate("DELETE", `/api/v1/agents/admission/blacklist/${row["id"]}`), 200, { count: 1 })
  expectBody(yield* operate("DELETE", `/api/v1/agents/admission/blacklist/${row["id"]}`), 200, { count: 0 })
  // An agent whose only key is blocked is deleted with its rows; its incidents stay resolved.
  yield* block(agent)
  expectCode(yield* operate("GET", agentPath(agent)), "404 not_found")
  expectCode(yield* operate("POST", `${agentPath(agent)}/block`), "404 not_found")
  expectCode(yield* heartbeat(agent), "403 agent_blocked")
  expectCode(yield* push(agent, event()), "403 agent_blocked")
  expectCode(yield* heartbeat({ ...newAgent("another-name"), key: agent.key }), "403 agent_blocked")
  assert.deepInclude(yield* pageOf("/api/v1/checks?agent_id=web-01"), { items: [] })
  assert.deepInclude(yield* pageOf("/api/v1/events/query?agent_id=web-01"), { items: [] })
  assert.deepInclude(yield* pageOf("/api/v1/incidents?agent_id=web-01&state=open"), { items: [] })
  assert.isAbove((yield* pageOf("/api/v1/incidents?agent_id=web-01")).items.length, 3)
  yield* look(transcript, "gone")
  expectBody(yield* operate("DELETE", "/api/v1/agents/admission/blacklist"), 200, { count: 4 })
  expectBody(yield* operate("DELETE", "/api/v1/agents/admission/blacklist"), 200, { count: 0 })
  // Forgotten, not accepted.
  expectCode(yield* push(agent, event()), "403 agent_not_accepted")
  expectBody(yield* heartbeat(agent), 202, { accepted: false })
  yield* accept(agent)
  // The former agent's rows do not count: no event is late or a duplicate.
  const old = event({ check_id: "disk", observed_at: at(0), ...critical })
  expectBody(yield* push(agent, old), 202, { accepted: 1, deduplicated: 0 })
  expectBody(yield* operate("DELETE", agentPath(agent)), 200, { count: 1 })
  expectCode(yield* operate("DELETE", agentPath(agent)), "404 not_found")
  yield* heartbeat(agent)
  yield* accept(agent)
  expectBody(yield* push(agent, old), 202, { accepted: 1, deduplicated: 0 })
  yield* look(transcript, "another life")
})
