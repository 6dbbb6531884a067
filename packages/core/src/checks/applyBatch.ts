import { type CheckMove, recount } from "../admission/AgentRecord.ts"
import { recognise } from "../admission/recognise.ts"
import type { EventBatchRequest } from "../contract/EventBatchRequest.ts"
import type { EventId, KeyHash } from "../contract/Identifiers.ts"
import type { Instant } from "../contract/Instant.ts"
import { type IncidentOptions, Incidents } from "../incidents/Incidents.ts"
import { resolveHeartbeatIncident } from "../liveness/heartbeatIncident.ts"
import type { Command, Decision } from "../workspace/Decision.ts"
import type { Workspace } from "../workspace/Workspace.ts"
import { applyEvent, type EventOutcome } from "./applyEvent.ts"
import { prefetch } from "./prefetch.ts"

/** What became of a batch; a refused one changed nothing (docs/rules.md#events, docs/rules.md#agent-keys). */
export type BatchOutcome =
  | { readonly outcome: "applied"; readonly events: ReadonlyArray<EventOutcome> }
  | { readonly outcome: "agent_blocked" | "agent_not_accepted" }

/** A batch with what is known of its key. */
export interface BatchInput {
  readonly request: EventBatchRequest
  readonly key_hash: KeyHash
  readonly incidents: IncidentOptions
  readonly sha256: (text: string) => string
}

/** Decides a batch of check results: in array order, all or nothing (docs/rules.md#events). */
export const applyBatch =
  (input: BatchInput): Command<BatchOutcome> =>
  (workspace, now) =>
    decide(workspace, now, input)

function* decide(workspace: Workspace, now: Instant, input: BatchInput): Decision<BatchOutcome> {
  const { agent_id, events } = input.request
  const check_ids = events.map((event) => event.check_id)
  const found = yield* recognise(workspace, { agent_id, key_hash: input.key_hash, check_ids })
  if (found.standing === "blocked") return { outcome: "agent_blocked" }
  if (found.standing !== "accepted") return { outcome: "agent_not_accepted" }

  const context = {
    workspace,
    now,
    input,
    agent: found.agent,
    incidents: new Incidents(workspace, now, input.incidents),
    seenInBatch: new Set<EventId>(),
  }
  yield* prefetch(context)
  const seen = { ...found.agent, last_seen_at: now }
  const agent = yield* resolveHeartbeatIncident(workspace, seen, now, input.incidents)
  const outcomes: Array<EventOutcome> = []
  const moves: Array<CheckMove> = []
  const { registration_id } = agent
  for (const event of events) {
    const check = workspace.checks.get({ agent_id, registration_id, check_id: event.check_id })
    const applied = applyEvent(context, check, event)
    const outcome = typeof applied === "string" ? applied : yield* applied
    outcomes.push(outcome)
    if (outcome === "changed") moves.push({ from: check?.status, to: event.status })
  }
  workspace.putAgent(recount(agent, moves))
  return { outcome: "applied", events: outcomes }
}
