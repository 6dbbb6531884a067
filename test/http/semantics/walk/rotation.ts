import { Effect } from "effect"
import { agentPath, block, event, heartbeat, newAgent, push, type TestAgent } from "../../client/TestAgent.ts"
import { operate } from "../../client/call.ts"
import { newToken } from "../../service/Observatory.ts"
import type { Transcript } from "../Transcript.ts"
import { expectBody, expectCode } from "./expectations.ts"
import { look } from "./look.ts"

/** Replacement keys, and keys of other agents. */
export const rotation = Effect.fnUntraced(function* (
  transcript: Transcript,
  agent: TestAgent,
  other: TestAgent,
) {
  const fresh = { ...agent, key: newToken() }
  expectBody(yield* heartbeat(fresh, { hostname: "imposter" }), 202, { accepted: false })
  expectBody(yield* operate("GET", agentPath(agent)), 200, {
    rotation_pending: true,
    hostname: "web-01.example.org",
  })
  expectBody(yield* heartbeat(agent), 202, { accepted: true })
  expectCode(yield* push(fresh, event()), "403 agent_not_accepted")
  expectCode(yield* heartbeat({ ...agent, key: newToken() }), "409 conflict")
  expectCode(yield* heartbeat({ ...newAgent("elsewhere"), key: agent.key }), "409 conflict")
  expectCode(yield* heartbeat({ ...other, key: agent.key }), "409 conflict")
  expectCode(yield* push({ ...other, key: agent.key }, event()), "403 agent_not_accepted")
  // accept-all keeps replacements pending without include_rotation; remove-all never removes them.
  expectBody(yield* operate("POST", "/api/v1/agents/admission/accept-all"), 200, { count: 0 })
  expectBody(yield* operate("POST", "/api/v1/agents/admission/accept-all?include_rotation=false"), 200, {
    count: 0,
  })
  expectBody(yield* operate("POST", "/api/v1/agents/admission/remove-all"), 200, { count: 0 })
  yield* look(transcript, "rotating")
  expectBody(yield* operate("POST", "/api/v1/agents/admission/accept-all?include_rotation=true"), 200, {
    count: 1,
  })
  expectBody(yield* heartbeat(fresh), 202, { accepted: true })
  expectCode(yield* heartbeat(agent), "409 conflict")
  expectCode(yield* push(agent, event()), "403 agent_not_accepted")
  expectBody(yield* operate("GET", agentPath(agent)), 200, { rotation_pending: false })
  // Blocked: the pending key, not the accepted one.
  const next = { ...agent, key: newToken() }
  yield* heartbeat(next)
  yield* block(agent)
  expectCode(yield* heartbeat(next), "403 agent_blocked")
  expectBody(yield* heartbeat(fresh), 202, { accepted: true })
  yield* look(transcript, "rotated")
  return fresh
})
