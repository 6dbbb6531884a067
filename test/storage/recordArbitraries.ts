import type { AgentKeyRecord } from "@tocsin/core/admission/AgentKeyRecord"
import type { AgentRecord } from "@tocsin/core/admission/AgentRecord"
import type { CheckRecord } from "@tocsin/core/checks/CheckRecord"
import type { HistoryRecord } from "@tocsin/core/checks/HistoryRecord"
import {
  AgentId,
  BlacklistId,
  CheckId,
  EventId,
  IncidentId,
  IncidentKey,
  KeyFingerprint,
  KeyHash,
  OutboxId,
  RegistrationId,
} from "@tocsin/core/contract/Identifiers"
import * as Instant from "@tocsin/core/contract/Instant"
import type { Labels } from "@tocsin/core/contract/Labels"
import type { CheckStatus, NotifierKind, Severity } from "@tocsin/core/contract/Status"
import type { IncidentChangeRecord } from "@tocsin/core/incidents/IncidentChangeRecord"
import type { IncidentRecord } from "@tocsin/core/incidents/IncidentRecord"
import type { MemberRecord } from "@tocsin/core/incidents/MemberRecord"
import type { MarkRecord } from "@tocsin/core/liveness/MarkRecord"
import type { AlertRecord } from "@tocsin/core/notifications/AlertRecord"
import type { OutboxRecord } from "@tocsin/core/notifications/OutboxRecord"
import * as fc from "fast-check"

/** 0001-01-01T00:00:00.000000Z and 9999-12-31T23:59:59.999999Z. */
const [FIRST_MICROS, LAST_MICROS] = [-62_135_596_800_000_000n, 253_402_300_799_999_999n]

/** Any instant that the contract knows, often one at the ends. */
const instant: fc.Arbitrary<Instant.Instant> = fc
  .bigInt({ min: FIRST_MICROS, max: LAST_MICROS })
  .map(Instant.fromMicros)

/** Characters that are special somewhere: to SQL, JSON, LIKE, arrays, copy formats, or to those who trim. */
const ODD = ["'", '"', "\\", "%", "_", "{", "}", "$1", "?", ":x", "\u007f", "\u0085", "\u2028", "\ufeff", "\uffff", "\ufffd"]

const character = (first: number) =>
  fc.oneof(
    { weight: 4, arbitrary: fc.constantFrom(" ", "a", "B", "9", ...ODD) },
    { weight: 2, arbitrary: fc.integer({ min: first, max: 0xd7ff }).map((code) => String.fromCodePoint(code)) },
    { weight: 1, arbitrary: fc.integer({ min: 0xe000, max: 0x10ffff }).map((code) => String.fromCodePoint(code)) },
  )

/** A text without C0 controls and surrogates: a hostname, a label's value, an incident key. */
const plain = (maxLength: number) => fc.string({ unit: character(0x20), minLength: 1, maxLength })

/** An output as it is stored: any characters but NUL and surrogates. */
const output = fc.string({ unit: character(0x01), maxLength: 60 })

const name = fc.oneof(
  { weight: 4, arbitrary: fc.stringMatching(/^[A-Za-z0-9._:-]{1,60}$/) },
  { weight: 1, arbitrary: fc.constantFrom("__proto__", "constructor", "NULL", "null", "0", "-", "toString") },
)

const hex = (digits: number) =>
  fc.string({ unit: fc.constantFrom(..."0123456789abcdef"), minLength: digits, maxLength: digits })
const uuid = fc.uuid({ version: 7 })
const keyHash = hex(64).map((text) => KeyHash.make(text))
const fingerprint = hex(16).map((text) => KeyFingerprint.make(text))
const agentId = name.map((text) => AgentId.make(text))
const checkId = name.map((text) => CheckId.make(text))
const count = fc.nat({ max: 1_000_000 })

const maybe = <A>(arbitrary: fc.Arbitrary<A>): fc.Arbitrary<A | undefined> => fc.option(arbitrary, { nil: undefined })

const labels: fc.Arbitrary<Labels> = fc
  .uniqueArray(fc.tuple(name, fc.oneof(plain(20), fc.constant(""))), { maxLength: 5, selector: ([key]) => key })
  .map((entries) => Object.fromEntries(entries))

const severity = fc.constantFrom<Severity>("warning", "critical", "unknown")
const status = fc.constantFrom<CheckStatus>("ok", "warning", "critical", "unknown")

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
    registered_at: instant,
    key_fingerprint: fingerprint,
    heartbeat_incident_id: maybe(uuid.map((text) => IncidentId.make(text))),
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
  fc.record({ ...keyFields, state: fc.constantFrom("pending" as const, "accepted" as const, "superseded" as const) }),
  fc.record({
    ...keyFields,
    state: fc.constant("blocked" as const),
    blacklist_id: hex(64).map((text) => BlacklistId.make(text)),
    blocked_at: instant,
    hostname: plain(253),
  }),
)

const incidentKey = plain(256).map((text) => IncidentKey.make(text))

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
  })
  .map((check) => (check.status === "ok" ? { ...check, incident_id: undefined } : check))

/** A stored result; what an event leaves out is absent. */
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
      ...(["agent_id", "registration_id", "received_at", "event_id", "check_id", "observed_at", "status"] as const),
      ...(["exit_code", "duration_ms", "output_truncated", "notifications_enabled"] as const),
    ],
  },
)

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
    summary: maybe(plain(512)),
    member_changes: count,
    members_warning: count,
    members_unknown: count,
    members_critical: count,
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
})

/** An outbox item in any state. */
export const outboxRecord: fc.Arbitrary<OutboxRecord> = fc
  .record({
    id: uuid.map((text) => OutboxId.make(text)),
    notifier: fc.constantFrom<NotifierKind>("debug", "messenger", "webhook", "alert_router"),
    state: fc.constantFrom("pending", "sending", "sent", "retry", "failed", "discarded"),
    incident_id: uuid.map((text) => IncidentId.make(text)),
    event_type: fc.constantFrom("firing" as const, "resolved" as const),
    incident_seq: count,
    severity,
    summary: maybe(plain(512)),
    attempts: count,
    next_attempt_at: maybe(instant),
    last_error: maybe(output),
    leased_until: maybe(instant),
    created_at: instant,
    counts_from: instant,
    updated_at: instant,
  })
  .map((item) => ({
    ...item,
    leased_until: item.state === "sending" ? (item.leased_until ?? item.updated_at) : undefined,
    next_attempt_at:
      item.state === "pending" || item.state === "retry" ? (item.next_attempt_at ?? item.updated_at) : undefined,
  }))

/** A label set at the alert router, firing or ended, held or free. */
export const alertRecord: fc.Arbitrary<AlertRecord> = fc.record({
  incident_id: uuid.map((text) => IncidentId.make(text)),
  severity,
  next_at: instant,
  ended_at: maybe(instant),
  leased_until: maybe(instant),
})

/** The service's sign of life. */
export const markRecord: fc.Arbitrary<MarkRecord> = fc.record({
  name: fc.constant("service" as const),
  marked_at: instant,
  outage_ended_at: maybe(instant),
})

/** A line of an incident's story. */
export const incidentChangeRecord: fc.Arbitrary<IncidentChangeRecord> = fc.record({
  incident_id: uuid.map((text) => IncidentId.make(text)),
  seq: fc.integer({ min: 1, max: 1_000_000 }),
  changed_at: instant,
  change: fc.constantFrom("joined", "worsened", "improved", "left"),
  agent_id: agentId,
  check_id: checkId,
  severity,
  incident_severity: maybe(severity),
})
