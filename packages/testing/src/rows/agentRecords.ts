import type { AgentKeyRecord, AgentRecord } from "@tocsin/core/heart/model/AgentRecord"
import type { CheckRecord, HistoryRecord } from "@tocsin/core/heart/model/CheckRecord"
import { BlacklistId, EventId, IncidentId, RegistrationId } from "@tocsin/contract/formats/Identifiers"
import * as fc from "fast-check"
import {
  agentId,
  checkId,
  count,
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
export const agentRecord: fc.Arbitrary<AgentRecord> = fc
  .record({
    agent_id: agentId,
    registration_id: uuid.map((text) => RegistrationId.make(text)),
    hostname: plain(253),
    features: fc.record({ push: fc.boolean(), metrics: fc.boolean() }),
    labels: maybe(labels),
    observed_at: instant,
    last_seen_at: instant,
    reachable_from: maybe(instant),
    registered_at: instant,
    key_fingerprint: fingerprint,
    heartbeat_incident_id: maybe(uuid.map((text) => IncidentId.make(text))),
    process: maybe(plain(16)),
    former_processes: maybe(
      fc.array(fc.record({ id: plain(16), hostname: plain(253), left_at: fc.nat() }), { maxLength: 8 }),
    ),
    twice_at: maybe(instant),
    listed_as_of: maybe(instant),
    title: maybe(plain(100)),
    given_title: maybe(plain(100)),
    declared_title: maybe(plain(256)),
    checks_ok: count,
    checks_warning: count,
    checks_critical: count,
    checks_unknown: count,
  })
  .chain((agent) =>
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
export const checkRecord: fc.Arbitrary<CheckRecord> = fc
  .record({
    agent_id: agentId,
    registration_id: uuid.map((text) => RegistrationId.make(text)),
    check_id: checkId,
    status,
    exit_code: fc.maxSafeInteger(),
    last_observed_at: instant,
    received_at: instant,
    incident_key: maybe(incidentKey),
    summary: maybe(output),
    seen_event_ids: fc.array(
      uuid.map((text) => EventId.make(text)),
      { minLength: 1, maxLength: 3 },
    ),
    incident_id: uuid.map((text) => IncidentId.make(text)),
    overdue_incident_id: maybe(uuid.map((text) => IncidentId.make(text))),
    declaration: maybe(hex(16)),
    withdrawn_at: maybe(instant),
    is_of_place: maybe(fc.constant(true)),
  })
  .map((check) => (check.status === "ok" ? { ...check, incident_id: undefined } : check))

/** A stored result, without the optional fields of its event. */
export const historyRecord: fc.Arbitrary<HistoryRecord> = fc.record(
  {
    agent_id: agentId,
    registration_id: uuid.map((text) => RegistrationId.make(text)),
    received_at: instant,
    event_id: uuid.map((text) => EventId.make(text)),
    check_id: checkId,
    observed_at: instant,
    status,
    exit_code: fc.maxSafeInteger(),
    duration_ms: fc.maxSafeNat(),
    output,
    output_truncated: fc.boolean(),
    notifications_enabled: fc.boolean(),
    incident_key: incidentKey,
  },
  {
    requiredKeys: [
      ...([
        "agent_id",
        "registration_id",
        "received_at",
        "event_id",
        "check_id",
        "observed_at",
        "status",
      ] as const),
      ...(["exit_code", "duration_ms", "output_truncated", "notifications_enabled"] as const),
    ],
  },
)
