import { AgentId, CheckId, EventId, IncidentKey } from "@tocsin/core/contract/Identifiers"
import * as Instant from "@tocsin/core/contract/Instant"
import type { CheckStatus } from "@tocsin/core/contract/Status"
import { Effect } from "effect"
import { heartbeatOf, keyOf } from "@tocsin/testing/samples"
import { uuidV7 } from "@tocsin/testing/SeededIds"
import type { Process } from "./Site.ts"

/** The agent that reports unless another one is named. */
export const AGENT = AgentId.make("a")

/** What a check says. */
export interface Result {
  readonly check: string
  readonly status: CheckStatus
  /** Whether people may be told; true unless given. */
  readonly loud?: boolean
  readonly key?: string | undefined
  readonly output?: string
}

/** An agent that has a key, accepted, and is seen now. */
export const enroll = ({ ingest, admission }: Process, ...agents: ReadonlyArray<AgentId>) =>
  Effect.forEach(agents, (agent) => beat({ ingest }, agent), { discard: true }).pipe(
    Effect.andThen(admission.acceptAll({ includeRotation: false })),
    Effect.orDie,
  )

/** A heartbeat. */
export const beat = ({ ingest }: Pick<Process, "ingest">, agent: AgentId = AGENT) =>
  Effect.flatMap(Instant.now, (observed_at) =>
    ingest.heartbeat(keyOf(agent), heartbeatOf(agent, { observed_at })),
  )

let reported = 0

/** Results of an agent's checks, observed now; each with an event id of its own. */
export const report = Effect.fnUntraced(function* (
  { ingest }: Pick<Process, "ingest">,
  results: ReadonlyArray<Result>,
  agent: AgentId = AGENT,
) {
  const now = yield* Instant.now
  const events = results.map(({ check, status, loud = true, key, output }) => ({
    event_id: EventId.make(uuidV7(now / 1_000n, `event ${reported++}`)),
    check_id: CheckId.make(check),
    observed_at: now,
    status,
    exit_code: status === "ok" ? 0 : 2,
    duration_ms: 1,
    output_truncated: false,
    notifications_enabled: loud,
    ...(key !== undefined && { incident_key: IncidentKey.make(key) }),
    ...(output !== undefined && { output }),
  }))
  return yield* ingest.events(keyOf(agent), { agent_id: agent, events })
})
