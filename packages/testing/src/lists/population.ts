import { type Acknowledgement, ackColumns } from "@tocsin/core/heart/model/Acknowledgement"
import type { AgentRecord, AgentsKeyRecord, BlockedKeyRecord } from "@tocsin/core/heart/model/AgentRecord"
import type { CheckRecord, HistoryRecord } from "@tocsin/core/heart/model/CheckRecord"
import type { IncidentRecord } from "@tocsin/core/heart/model/IncidentRecord"
import type { MemberRecord } from "@tocsin/core/heart/model/MemberRecord"
import type { OutboxRecord } from "@tocsin/core/heart/model/OutboxRecord"
import * as Instant from "@tocsin/contract/formats/Instant"
import { CheckStatus } from "@tocsin/contract/formats/Status"
import {
  agentRecord,
  blockedKeyRecord,
  checkRecord,
  incidentRecord,
  keyHashOf,
  memberRecord,
  outboxRecord,
  write,
} from "../records.ts"
import type { Replica } from "../Replica.ts"
import { eventOf, start } from "../samples.ts"

const pick = <const A>(values: readonly [A, ...ReadonlyArray<A>], n: number): A =>
  values[n % values.length] ?? values[0]

/** A few instants only, so that many rows share one and ids decide. */
const at = (n: number): Instant.Instant => Instant.fromMicros(start + BigInt(n))

/** In no language's order, and in the order of bytes neither. */
const AGENTS = ["b", "A", "a-1", "a.1", "B", "a", "_", "Z", "a:1", "a1", "10", "9"] as const
const CHECKS = ["disk", "CPU", "cpu", "a"] as const

const agents: ReadonlyArray<AgentRecord> = AGENTS.map((name) => agentRecord(name))

const checks: ReadonlyArray<CheckRecord> = agents.flatMap((agent, n) =>
  CHECKS.slice(0, 1 + (n % CHECKS.length)).map((check, place) => ({
    ...checkRecord(agent, check),
    status: pick(CheckStatus.literals, n + place),
    ...(n % 3 > 0 && { summary: `${check.toUpperCase()} is É ${place}%` }),
  })),
)

const history: ReadonlyArray<HistoryRecord> = Array.from({ length: 60 }, (_, n) => {
  const { agent_id, registration_id } = agents[(n * 7) % 3] ?? agentRecord("b")
  const event = eventOf(n, { check_id: pick(CHECKS, n >> 1) })
  return { ...event, agent_id, registration_id, received_at: start }
})

/** The end of some acknowledgements; others last longer. */
export const ACKNOWLEDGED_UNTIL = at(1_000)

/** Between the moments of incidents: rows lie before, at and after both. */
export const BETWEEN = { from: at(1), to: at(3) }

/** Also of resolved incidents. */
const acknowledgement = (n: number): Acknowledgement => ({
  by: "eva",
  note: undefined,
  at: start,
  until: n % 4 === 0 ? ACKNOWLEDGED_UNTIL : at(2_000),
  severity: "critical",
})

/** The member that opened incident n. */
const openerOf = (n: number): MemberRecord =>
  memberRecord(
    { incident: `incident ${n}`, agent: pick(["a", "b", "A"], n), check: pick(["disk", "cpu"], n) },
    n % 4 === 1 ? { left_at: start } : {},
  )

const incidents: ReadonlyArray<IncidentRecord> = Array.from({ length: 36 }, (_, n) =>
  incidentRecord(`incident ${n}`, {
    severity: pick(["warning", "critical", "unknown"], n >> 1),
    opened_at: at((n * 5) % 4),
    ...(n % 2 === 0 ? {} : { state: "resolved" as const, resolved_at: at((n * 7) % 5) }),
    ...(n % 3 === 0 && ackColumns(acknowledgement(n))),
    // Some change so often that databases do not move their members in indexes.
    member_changes: n % 12 < 8 ? 5 : 101,
    opener_agent_id: openerOf(n).agent_id,
    opener_check_id: openerOf(n).check_id,
  }),
)

/** Of incident n: one to three members, some of an agent with two checks in it, some of them gone. */
const members: ReadonlyArray<MemberRecord> = incidents.flatMap((_, n) => {
  const of = (agent: string, check: string, isPast: boolean) =>
    memberRecord({ incident: `incident ${n}`, agent, check }, isPast ? { left_at: start } : {})
  const opener = openerOf(n)
  const second = of(pick(["b", "A", "a"], n), pick(["cpu", "disk"], n), n % 5 === 0)
  const ofSameAgent = of(opener.agent_id, "load", false)
  return [opener, ...(n % 3 === 2 ? [] : [second]), ...(n % 4 === 3 ? [ofSameAgent] : [])]
})

/** One beside the kinds that Tocsin brings: who builds on its library brings others. */
const NOTIFIERS = ["debug", "messenger", "webhook", "alert_router", "pager"] as const

const outbox: ReadonlyArray<OutboxRecord> = Array.from({ length: 60 }, (_, n) => {
  const state = pick(["pending", "sending", "sent", "retry", "failed", "discarded"], n)
  const isHeld = state === "pending" && n % 4 === 0
  return outboxRecord(`item ${n}`, `incident ${n % 36}`, {
    state,
    notifier: pick(NOTIFIERS, n >> 1),
    event_type: pick(["firing", "resolved"], n >> 2),
    incident_seq: n,
    next_attempt_at: (state === "pending" && !isHeld) || state === "retry" ? start : undefined,
    next_evaluation_at: isHeld ? at(n) : undefined,
    leased_until: state === "sending" ? start : undefined,
    created_at: at((n * 5) % 7),
    updated_at: at(10 + ((n * 11) % 6)),
  })
})

const blocked: ReadonlyArray<BlockedKeyRecord> = Array.from({ length: 25 }, (_, n) =>
  blockedKeyRecord(`blocked-${n}`, { blocked_at: at((n * 3) % 5) }),
)

/** Rows for every list, many with equal sort values. */
export const population = { agents, checks, history, incidents, members, outbox, blocked }

/** Keys in use, which no list has. */
const keys: ReadonlyArray<AgentsKeyRecord> = agents.map(({ agent_id, key_fingerprint }) => ({
  key_hash: keyHashOf(agent_id),
  key_fingerprint,
  agent_id,
  state: "accepted",
  created_at: start,
  last_seen_at: start,
}))

/** Puts the {@link population} into an empty storage. */
export const populate = (replica: Replica) =>
  write(replica, [], (unit) => {
    for (const row of agents) unit.agents.put(row)
    for (const row of [...keys, ...blocked]) unit.keys.put(row)
    for (const row of checks) unit.checks.put(row)
    for (const row of history) unit.store(row)
    for (const row of incidents) unit.incidents.put(row)
    for (const row of members) unit.members.put(row)
    for (const row of outbox) unit.outbox.put(row)
  })
