import { AgentId, CheckId, EventId, IncidentKey } from "@tocsin/contract/formats/Identifiers"
import * as Instant from "@tocsin/contract/formats/Instant"
import type { Labels } from "@tocsin/contract/labels/Labels"
import type { CheckStatus } from "@tocsin/contract/formats/Status"
import { Effect } from "effect"
import { heartbeatOf, keyOf } from "@tocsin/testing/samples"
import { uuidV7 } from "@tocsin/testing/SeededIds"
import type { Process } from "./Service.ts"

/** The agent that acts unless a test names another one. */
export const AGENT = AgentId.make("a")

/** A result of a check. */
export interface Result {
  readonly check: string
  readonly status: CheckStatus
  /** Whether it may notify; true by default. */
  readonly loud?: boolean
  readonly key?: string | undefined
  readonly output?: string
  /** When its agent observed it, by a clock other than the service's; now by default. */
  readonly observedAt?: Instant.Instant
}

/** Critical results of so many checks with different names. */
export const criticalChecks = (count: number): ReadonlyArray<Result> =>
  Array.from({ length: count }, (_, at) => ({ check: `check-${at}`, status: "critical" }))

/** Registers agents and accepts their keys. */
export const enroll = ({ ingest, admission }: Process, ...agents: ReadonlyArray<AgentId>) =>
  Effect.forEach(agents, (agent) => heartbeat({ ingest }, agent), { discard: true }).pipe(
    Effect.andThen(admission.acceptAll({ includeRotation: false })),
    Effect.orDie,
  )

/** Sends a heartbeat. */
export const heartbeat = (
  { ingest }: Pick<Process, "ingest">,
  agent: AgentId = AGENT,
  labels: Labels | undefined = undefined,
) =>
  Effect.flatMap(Instant.now, (observed_at) =>
    ingest.heartbeat(keyOf(agent), heartbeatOf(agent, { observed_at, ...(labels && { labels }) })),
  )

let reported = 0

/** Sends results of an agent's checks, observed now, each with a new event ID. */
export const report = Effect.fnUntraced(function* (
  { ingest }: Pick<Process, "ingest">,
  results: ReadonlyArray<Result>,
  agent: AgentId = AGENT,
) {
  const now = yield* Instant.now
  const events = results.map(({ check, status, loud = true, key, output, observedAt = now }) => ({
    event_id: EventId.make(uuidV7(now / 1_000n, `event ${reported++}`)),
    check_id: CheckId.make(check),
    observed_at: observedAt,
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
