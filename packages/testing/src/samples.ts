import type { CheckResultEvent, HeartbeatRequest } from "@tocsin/contract/v1/Requests"
import { AgentId, CheckId, EventId, IncidentKey } from "@tocsin/contract/formats/Identifiers"
import * as Instant from "@tocsin/contract/formats/Instant"
import { Effect, Redacted } from "effect"
import type { Replica } from "./Replica.ts"
import { uuidV7 } from "./SeededIds.ts"

/** 2026-01-31T08:30:00Z. */
export const START_MILLIS = 1_769_848_200_000

/** {@link START_MILLIS} as an instant. */
export const start = Instant.fromMillis(START_MILLIS)

/** The n-th event id; equal numbers, equal ids. */
export const eventId = (n: number): EventId => EventId.make(uuidV7(BigInt(START_MILLIS), `event ${n}`))

/** The agent key of that name. */
export const keyOf = (name: string): Redacted.Redacted => Redacted.make(`key of ${name}`)

/** Ids of that many agents. */
export const agentNames = (count: number): ReadonlyArray<string> =>
  Array.from({ length: count }, (_, n) => `agent-${n}`)

/** A heartbeat of an agent. */
export const heartbeatOf = (agent: string, changes: Partial<HeartbeatRequest> = {}): HeartbeatRequest => ({
  agent_id: AgentId.make(agent),
  observed_at: start,
  hostname: `${agent}.example.org`,
  features: { push: true, metrics: false },
  ...changes,
})

/** The given fields of a test's event; the rest is filled in. */
export type EventChanges = Omit<Partial<CheckResultEvent>, "check_id" | "incident_key"> & {
  readonly check_id?: string
  readonly incident_key?: string
}

/** The n-th event: a critical result of `disk`, one second later than the one before it. */
export const eventOf = (n: number, changes: EventChanges = {}): CheckResultEvent => {
  const { check_id = "disk", incident_key, ...others } = changes
  return {
    event_id: eventId(n),
    check_id: CheckId.make(check_id),
    observed_at: Instant.fromMillis(START_MILLIS + n * 1_000),
    status: "critical",
    exit_code: 2,
    duration_ms: 12,
    output_truncated: false,
    notifications_enabled: true,
    ...(incident_key !== undefined && { incident_key: IncidentKey.make(incident_key) }),
    ...others,
  }
}

/** Sends events of an agent under the key of that agent's name. */
export const send = ({ ingest }: Replica, agent: string, events: ReadonlyArray<CheckResultEvent>) =>
  ingest.events(keyOf(agent), { agent_id: AgentId.make(agent), events })

/** Registers agents, each under the key of its name, as pending. */
export const register = ({ ingest }: Replica, ...agents: ReadonlyArray<string>) =>
  Effect.forEach(agents, (agent) => ingest.heartbeat(keyOf(agent), heartbeatOf(agent)), { discard: true })

/** Registers agents, each under the key of its name, and accepts all that are pending. */
export const enroll = (replica: Replica, ...agents: ReadonlyArray<string>) =>
  Effect.andThen(register(replica, ...agents), replica.admission.acceptAll({ includeRotation: false }))
