import { agent, type AgentKeyRecord, type AgentRecord } from "@tocsin/core/heart/model/AgentRecord"
import {
  check_event,
  check_state,
  type CheckRecord,
  type HistoryRecord,
} from "@tocsin/core/heart/model/CheckRecord"
import { BlacklistId, IncidentId } from "@tocsin/contract/formats/Identifiers"
import * as fc from "fast-check"
import { drawn } from "./drawn.ts"
import {
  agentId,
  checkId,
  fingerprint,
  hex,
  incidentKey,
  instant,
  keyHash,
  labels,
  maybe,
  output,
  plain,
  status,
  uuid,
} from "./values.ts"

/** An agent, pending or accepted with or without a replacement key waiting. */
export const agentRecord: fc.Arbitrary<AgentRecord> = drawn(agent, {
  agent_id: agentId,
  features: fc.record({ push: fc.boolean(), metrics: fc.boolean() }),
  labels: maybe(labels),
  key_fingerprint: fingerprint,
  heartbeat_incident_id: maybe(uuid.map((text) => IncidentId.make(text))),
  former_processes: maybe(
    fc.array(fc.record({ id: plain(16), hostname: plain(253), left_at: fc.nat() }), { maxLength: 8 }),
  ),
}).chain((agent) =>
  fc
    .oneof(
      fc.record({
        admission_state: fc.constant("pending" as const),
        accepted_key_hash: fc.constant(undefined),
        pending_key_hash: keyHash,
      }),
      fc.record({
        admission_state: fc.constant("accepted" as const),
        accepted_key_hash: keyHash,
        pending_key_hash: maybe(keyHash),
      }),
    )
    .map((admission) => ({ ...agent, ...admission })),
)

const keyFields = {
  key_hash: keyHash,
  key_fingerprint: fingerprint,
  agent_id: agentId,
  created_at: instant,
  last_seen_at: instant,
}

/** A key in any state. */
export const keyRecord: fc.Arbitrary<AgentKeyRecord> = fc.oneof(
  fc.record({
    ...keyFields,
    state: fc.constantFrom("pending" as const, "accepted" as const, "superseded" as const),
  }),
  fc.record({
    ...keyFields,
    state: fc.constant("blocked" as const),
    blacklist_id: hex(64).map((text) => BlacklistId.make(text)),
    blocked_at: instant,
    hostname: plain(253),
  }),
)

/** A check of some agent, in some incident where it is not ok. */
export const checkRecord: fc.Arbitrary<CheckRecord> = drawn(check_state, {
  agent_id: agentId,
  check_id: checkId,
  status,
  incident_key: maybe(incidentKey),
  summary: maybe(output),
  incident_id: uuid.map((text) => IncidentId.make(text)),
  overdue_incident_id: maybe(uuid.map((text) => IncidentId.make(text))),
  is_of_place: maybe(fc.constant(true)),
}).map((check) => (check.status === "ok" ? { ...check, incident_id: undefined } : check))

/** A stored result, without the optional fields of its event. */
export const historyRecord: fc.Arbitrary<HistoryRecord> = drawn(check_event, {
  agent_id: agentId,
  check_id: checkId,
  status,
  duration_ms: fc.maxSafeNat(),
  output,
  incident_key: incidentKey,
  // Fields that are absent have no property.
}).map(({ seq: _seq, ...row }) => row as HistoryRecord)
