import { IncidentId, OutboxId } from "@tocsin/contract/formats/Identifiers"
import type { NotifierName } from "@tocsin/contract/formats/Status"
import {
  incident,
  incident_change,
  incident_log,
  type IncidentChangeRecord,
  type IncidentLogRecord,
  type IncidentRecord,
} from "@tocsin/core/heart/model/IncidentRecord"
import { incident_member, type MemberRecord } from "@tocsin/core/heart/model/MemberRecord"
import { alert, type AlertRecord, outbox, type OutboxRecord } from "@tocsin/core/heart/model/OutboxRecord"
import {
  service_heartbeat,
  type ServiceHeartbeatRecord,
} from "@tocsin/core/kernel/model/ServiceHeartbeatRecord"
import * as fc from "fast-check"
import { ALERT_RECEIVERS } from "../records.ts"
import { drawn } from "./drawn.ts"
import { agentId, checkId, incidentKey, maybe, output, severity, uuid } from "./values.ts"

const incidentId = uuid.map((text) => IncidentId.make(text))

/** An incident, open or resolved. */
export const incidentRecord: fc.Arbitrary<IncidentRecord> = drawn(incident, {
  id: incidentId,
  kind: fc.constantFrom("named", "automatic"),
  incident_key: incidentKey,
  severity,
  agent_id: maybe(agentId),
  check_id: maybe(checkId),
  opener_agent_id: agentId,
  opener_check_id: checkId,
  resolution: maybe(
    fc.constantFrom(
      { reason: "recovered" } as const,
      { reason: "recovered", now: "fine" } as const,
      { reason: "deleted", by: "ann", of: "agent" } as const,
    ),
  ),
  resolved_by: maybe(fc.constantFrom("event", "agent_gone")),
  ack_severity: maybe(severity),
  announced: maybe(severity),
}).map((row) => ({ ...row, state: row.resolved_at === undefined ? "open" : "resolved" }))

/** A membership, present or past. */
export const memberRecord: fc.Arbitrary<MemberRecord> = drawn(incident_member, {
  incident_id: incidentId,
  agent_id: agentId,
  check_id: checkId,
  severity,
})

const HOLDS: OutboxRecord["holds"] = [
  { by: "ack", until: 9e15 },
  { by: "parent:k", since: 1, until: 2, hasEnded: true },
  { by: "outage", hasEnded: true },
]

/** An outbox item in any state. */
export const outboxRecord: fc.Arbitrary<OutboxRecord> = drawn(outbox, {
  id: uuid.map((text) => OutboxId.make(text)),
  receiver: fc.constantFrom<NotifierName>("debug", "chat", "pager"),
  notifier: fc.constantFrom<NotifierName>("debug", "messenger", "webhook", "alert_router"),
  state: fc.constantFrom("pending", "sending", "sent", "retry", "failed", "discarded"),
  incident_id: incidentId,
  event_type: fc.constantFrom("firing", "resolved"),
  cause: maybe(fc.constantFrom("opened", "worsened")),
  why: maybe(fc.constantFrom({ was: "warning" as const }, { rota: "primary", since: 9e15 })),
  called_with: maybe(fc.constant([OutboxId.make("0198a5f0-7c1e-7a63-9d55-2f1d6c1b7f02")])),
  repaired_by: maybe(fc.constantFrom("attempt", "change")),
  severity,
  holds: maybe(fc.constant(HOLDS)),
  rotas: maybe(fc.constant(["primary"])),
  recipients: maybe(
    fc.constant([{ address: "ops@example.org" }, { address: "gone@example.org", refused: "550" }]),
  ),
  last_error: maybe(output),
  discarded_because: maybe(fc.constantFrom("incident_resolved", "shadowed")),
}).map((item) => ({
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
export const alertRecord: fc.Arbitrary<AlertRecord> = drawn(alert, {
  receiver: fc.constantFrom(...ALERT_RECEIVERS),
  incident_id: incidentId,
  severity,
})

/** The service heartbeat. */
export const serviceHeartbeatRecord: fc.Arbitrary<ServiceHeartbeatRecord> = drawn(service_heartbeat, {
  name: fc.constant("service"),
})

/** A line of an incident's scenario. */
export const incidentChangeRecord: fc.Arbitrary<IncidentChangeRecord> = drawn(incident_change, {
  incident_id: incidentId,
  change: fc.constantFrom("joined", "worsened", "improved", "left"),
  agent_id: agentId,
  check_id: checkId,
  severity,
  incident_severity: maybe(severity),
})

/** A log entry of an incident: what a person did about it. */
export const incidentLogRecord: fc.Arbitrary<IncidentLogRecord> = drawn(incident_log, {
  incident_id: incidentId,
  action: fc.constantFrom("acknowledged", "withdrawn", "worsened", "noted"),
  text: maybe(output),
  severity: maybe(severity),
})
