import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { call, operate } from "./call.ts"
import { newToken } from "../service/Observatory.ts"

/** An agent and the key that it uses. */
export interface TestAgent {
  readonly agent_id: string
  readonly key: string
}

type Fields = Readonly<Record<string, unknown>>

let agentsMade = 0
let eventsMade = 0

/** A new agent. The same name always has the same key. */
export const newAgent = (agent_id?: string): TestAgent => {
  agentsMade += 1
  return { agent_id: agent_id ?? `agent-${agentsMade}`, key: newToken({ of: agent_id }) }
}

/** A new event ID. */
export const newEventId = (): string => {
  eventsMade += 1
  return `0190a5d0-0000-7000-8000-${eventsMade.toString(16).padStart(12, "0")}`
}

/** A valid heartbeat body with `changes`. */
export const heartbeatBody = ({ agent_id }: TestAgent, changes: Fields = {}): Fields => ({
  agent_id,
  observed_at: "2026-03-01T12:00:00Z",
  hostname: `${agent_id.slice(0, 200)}.example.org`,
  features: { push: true, metrics: false },
  ...changes,
})

/** A valid event with `changes`. */
export const event = (changes: Fields = {}): Fields => ({
  event_id: newEventId(),
  check_id: "disk",
  observed_at: "2026-03-01T12:00:00Z",
  status: "ok",
  exit_code: 0,
  duration_ms: 12,
  ...changes,
})

/** Sends a heartbeat of an agent. */
export const heartbeat = (agent: TestAgent, changes?: Fields) =>
  call("POST", "/api/v1/heartbeat", { token: agent.key, json: heartbeatBody(agent, changes) })

/** Sends a batch of an agent. */
export const push = (agent: TestAgent, ...events: ReadonlyArray<Fields>) =>
  call("POST", "/api/v1/events", { token: agent.key, json: { agent_id: agent.agent_id, events } })

/** The path of an agent. */
export const agentPath = ({ agent_id }: TestAgent): string => `/api/v1/agents/${encodeURIComponent(agent_id)}`

/** An agent whose key waits for admission. */
export const pendingAgent = Effect.fnUntraced(function* (agent_id?: string) {
  const agent = newAgent(agent_id)
  assert.deepStrictEqual((yield* heartbeat(agent)).body, { accepted: false })
  return agent
})

/** Accepts the pending key of an agent as an operator. */
export const accept = Effect.fnUntraced(function* (agent: TestAgent) {
  assert.deepStrictEqual((yield* operate("POST", `${agentPath(agent)}/accept`)).body, { count: 1 })
})

/** Blocks a key of an agent as an operator. */
export const block = Effect.fnUntraced(function* (agent: TestAgent) {
  assert.deepStrictEqual((yield* operate("POST", `${agentPath(agent)}/block`)).body, { count: 1 })
})

/** An agent whose key is accepted. */
export const acceptedAgent = Effect.fnUntraced(function* (agent_id?: string) {
  const agent = yield* pendingAgent(agent_id)
  yield* accept(agent)
  return agent
})

/** An agent whose only key is blocked. */
export const blockedAgent = Effect.fnUntraced(function* (agent_id?: string) {
  const agent = yield* acceptedAgent(agent_id)
  yield* block(agent)
  return agent
})
