import { IncidentId, OutboxId } from "@tocsin/contract/formats/Identifiers"
import type { NotifierName } from "@tocsin/contract/formats/Status"
import type {
  IncidentChangeRecord,
  IncidentLogRecord,
  IncidentRecord,
} from "@tocsin/core/heart/model/IncidentRecord"
import type { MemberRecord } from "@tocsin/core/heart/model/MemberRecord"
import type { AlertRecord, OutboxRecord } from "@tocsin/core/heart/model/OutboxRecord"
import type { ServiceHeartbeatRecord } from "@tocsin/core/kernel/model/ServiceHeartbeatRecord"
import * as fc from "fast-check"
import { ALERT_RECEIVERS } from "../records.ts"
import {
  agentId,
  checkId,
  count,
  incidentKey,
  instant,
  maybe,
  output,
  plain,
  severity,
  uuid,
} from "./values.ts"

/** An incident, open or resolved. */
export const incidentRecord: fc.Arbitrary<IncidentRecord> = fc
  .record({
    id: uuid.map((text) => IncidentId.make(text)),
    kind: fc.constantFrom("named" as const, "automatic" as const),
    incident_key: incidentKey,
    severity,
    agent_id: maybe(agentId),
    check_id: maybe(checkId),
    opener_agent_id: agentId,
    opener_check_id: checkId,
    opened_at: instant,
    resolved_at: maybe(instant),
    resolution: maybe(
      fc.constantFrom(
        { reason: "recovered" } as const,
        { reason: "recovered", now: "fine" } as const,
        { reason: "deleted", by: "ann", of: "agent" } as const,
      ),
    ),
    resolved_by: maybe(fc.constantFrom("event" as const, "agent_gone" as const)),
    summary: maybe(plain(512)),
    member_changes: count,
    members_warning: count,
    members_unknown: count,
    members_critical: count,
    ack_by: maybe(plain(64)),
    ack_note: maybe(plain(1024)),
    ack_at: maybe(instant),
    ack_until: maybe(instant),
    ack_severity: maybe(severity),
    announced: maybe(severity),
    reached_warning_at: maybe(instant),
    reached_unknown_at: maybe(instant),
    reached_critical_at: maybe(instant),
    left_unknown_at: maybe(instant),
    left_critical_at: maybe(instant),
    forgotten_unknown_at: maybe(instant),
    forgotten_critical_at: maybe(instant),
    steps_began_at: maybe(instant),
    next_evaluation_at: maybe(instant),
    log_entries: count,
  })
  .map((incident) => ({ ...incident, state: incident.resolved_at === undefined ? "open" : "resolved" }))

/** A membership, present or past. */
export const memberRecord: fc.Arbitrary<MemberRecord> = fc.record({
  incident_id: uuid.map((text) => IncidentId.make(text)),
  agent_id: agentId,
  check_id: checkId,
  severity,
  change_seq: count,
  summary: maybe(plain(512)),
  joined_at: instant,
  left_at: maybe(instant),
  is_loud: fc.boolean(),
  is_own: maybe(fc.boolean()),
})

const HOLDS: OutboxRecord["holds"] = [
  { by: "ack", until: 9e15 },
  { by: "parent:k", since: 1, until: 2, hasEnded: true },
  { by: "outage", hasEnded: true },
]

/** An outbox item in any state. */
export const outboxRecord: fc.Arbitrary<OutboxRecord> = fc
  .record({
    id: uuid.map((text) => OutboxId.make(text)),
    receiver: fc.constantFrom<NotifierName>("debug", "chat", "pager"),
    notifier: fc.constantFrom<NotifierName>("debug", "messenger", "webhook", "alert_router"),
    state: fc.constantFrom("pending", "sending", "sent", "retry", "failed", "discarded"),
    incident_id: uuid.map((text) => IncidentId.make(text)),
    event_type: fc.constantFrom("firing" as const, "resolved" as const),
    cause: maybe(fc.constantFrom("opened" as const, "worsened" as const)),
    why: maybe(fc.constantFrom({ was: "warning" as const }, { rota: "primary", since: 9e15 })),
    called_with: maybe(fc.constant([OutboxId.make("0198a5f0-7c1e-7a63-9d55-2f1d6c1b7f02")])),
    repaired_by: maybe(fc.constantFrom("attempt" as const, "change" as const)),
    incident_seq: count,
    severity,
    summary: maybe(plain(512)),
    attempts: count,
    first_attempted_at: maybe(instant),
    next_attempt_at: maybe(instant),
    next_evaluation_at: maybe(instant),
    holds: maybe(fc.constant(HOLDS)),
    must_send: fc.boolean(),
    is_backfill: fc.boolean(),
    rotas: maybe(fc.constant(["primary"])),
    recipients: maybe(
      fc.constant([{ address: "ops@example.org" }, { address: "gone@example.org", refused: "550" }]),
    ),
    released_at: maybe(instant),
    last_error: maybe(output),
    discarded_because: maybe(fc.constantFrom("incident_resolved" as const, "shadowed" as const)),
    leased_until: maybe(instant),
    created_at: instant,
    age_starts_at: instant,
    updated_at: instant,
  })
  .map((item) => ({
    ...item,
    first_attempted_at: item.first_attempted_at ?? (item.attempts > 0 ? item.updated_at : undefined),
    discarded_because: item.state === "discarded" ? (item.discarded_because ?? "coalesced") : undefined,
    leased_until: item.state === "sending" ? (item.leased_until ?? item.updated_at) : undefined,
    next_attempt_at:
      item.state === "pending" || item.state === "retry"
        ? (item.next_attempt_at ?? item.updated_at)
        : undefined,
  }))

/** A label set at a receiver, firing or ended, held or free. */
export const alertRecord: fc.Arbitrary<AlertRecord> = fc.record({
  receiver: fc.constantFrom(...ALERT_RECEIVERS),
  incident_id: uuid.map((text) => IncidentId.make(text)),
  severity,
  next_at: instant,
  ended_at: maybe(instant),
  leased_until: maybe(instant),
})

/** The service heartbeat. */
export const serviceHeartbeatRecord: fc.Arbitrary<ServiceHeartbeatRecord> = fc.record(
  {
    name: fc.constant("service" as const),
    beat_at: instant,
    outage_began_at: maybe(instant),
    outage_ended_at: maybe(instant),
  },
  { requiredKeys: ["name", "beat_at", "outage_began_at", "outage_ended_at"] },
)

/** A line of an incident's scenario. */
export const incidentChangeRecord: fc.Arbitrary<IncidentChangeRecord> = fc.record({
  incident_id: uuid.map((text) => IncidentId.make(text)),
  seq: fc.integer({ min: 1, max: 1_000_000 }),
  changed_at: instant,
  change: fc.constantFrom("joined", "worsened", "improved", "left"),
  agent_id: agentId,
  check_id: checkId,
  severity,
  incident_severity: maybe(severity),
  is_late: maybe(fc.boolean()),
})

/** A log entry of an incident: what a person did about it. */
export const incidentLogRecord: fc.Arbitrary<IncidentLogRecord> = fc.record({
  incident_id: uuid.map((text) => IncidentId.make(text)),
  seq: fc.integer({ min: 1, max: 1_000_000 }),
  logged_at: instant,
  action: fc.constantFrom("acknowledged", "withdrawn", "worsened", "noted"),
  actor: plain(64),
  text: maybe(output),
  ack_until: maybe(instant),
  severity: maybe(severity),
})
