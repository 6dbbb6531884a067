import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { type Base, call, operate } from "./api.ts"
import { secretOf } from "./secrecy.ts"

/** An agent and its key. */
export interface Agent {
  readonly agent_id: string
  readonly key: string
}

/** The fields of a check's result. */
export interface Result {
  readonly check_id: string
  readonly status: "ok" | "warning" | "critical" | "unknown"
  readonly incident_key?: string
}

/** One result as it is sent. */
export interface Event extends Result {
  readonly event_id: string
  readonly observed_at: string
  readonly exit_code: number
  readonly duration_ms: number
  readonly output: string
}

const EXIT_CODES = { ok: 0, warning: 1, critical: 2, unknown: 3 } as const

let eventsMade = 0

/** A result of a check, later than all that were made before it. */
export const eventOf = (result: Result): Event => {
  eventsMade += 1
  return {
    ...result,
    event_id: `01900000-0000-7000-8000-${eventsMade.toString(16).padStart(12, "0")}`,
    observed_at: new Date(Date.UTC(2026, 0, 1) + eventsMade).toISOString(),
    exit_code: EXIT_CODES[result.status],
    duration_ms: 12,
    output: `${result.check_id} is ${result.status}`,
  }
}

/** Sends results; they count only when the answer is 202. */
export const push = (base: Base, { agent_id, key }: Agent, events: ReadonlyArray<Event>) =>
  call(base, "POST", "/api/v1/events", { token: key, json: { agent_id, events } })

/** Sends a heartbeat. */
export const heartbeat = (base: Base, { agent_id, key }: Agent) =>
  call(base, "POST", "/api/v1/heartbeat", {
    token: key,
    json: {
      agent_id,
      observed_at: "2026-01-01T00:00:00Z",
      hostname: `${agent_id}.example.org`,
      features: { push: true, metrics: false },
    },
  })

/** An agent that is registered and accepted. */
export const enroll = Effect.fnUntraced(function* (base: Base, agent_id: string): Effect.fn.Return<Agent> {
  const agent = { agent_id, key: secretOf(agent_id) }
  yield* Effect.orDie(heartbeat(base, agent))
  yield* operate(base, "POST", `/api/v1/agents/${agent_id}/accept`)
  return agent
})

/** Sends results that must be applied. */
export const report = Effect.fnUntraced(function* (
  base: Base,
  agent: Agent,
  ...results: ReadonlyArray<Result>
) {
  const answer = yield* Effect.orDie(push(base, agent, results.map(eventOf)))
  assert.strictEqual(answer.text, `{"accepted":${results.length},"deduplicated":0}`)
})
