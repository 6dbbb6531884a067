import type { AgentKeyRecord, AgentsKeyRecord, BlockedKeyRecord, AgentRecord } from "./AgentRecord.ts"
import type { CheckRecord } from "./CheckRecord.ts"
import { type ExpectationRecord, NEVER_DUE } from "./ExpectationRecord.ts"
import type { StoredHistoryRecord } from "./ListDefinitions.ts"
import type { AlertRecord, OutboxRecord } from "./OutboxRecord.ts"
import { audit, audit_subject } from "./AuditRecord.ts"
import { enrolment } from "./EnrolmentRecord.ts"
import { idempotency_key } from "./IdempotencyKeyRecord.ts"
import { operator } from "./OperatorRecord.ts"
import { integration } from "./IntegrationRecord.ts"
import { policy_version } from "./PolicyVersionRecord.ts"
import { replica } from "./ReplicaRecord.ts"
import { service_heartbeat } from "./ServiceHeartbeatRecord.ts"
import { silence } from "./SilenceRecord.ts"
import { watch } from "./WatchRecord.ts"
import {
  array,
  boolean,
  instant,
  integer,
  long,
  moving,
  object,
  orAbsent,
  orUndefined,
  text,
  uuid,
  uuids,
} from "./columns.ts"
import { incident, incident_log, incident_change, incident_member } from "./incidentTables.ts"
import type { AnyShape, KeyedShape, TableShape } from "./TableShape.ts"

/** Keys in every state share a table: only blocked ones have the last three columns. */
export interface StoredKey extends Omit<AgentsKeyRecord, "state"> {
  readonly state: AgentKeyRecord["state"]
  readonly blacklist_id?: BlockedKeyRecord["blacklist_id"]
  readonly blocked_at?: BlockedKeyRecord["blocked_at"]
  readonly hostname?: BlockedKeyRecord["hostname"]
}

/** A registration whose agent is deleted; its checks and history are removed later. */
export type RemovedRegistration = Pick<AgentRecord, "agent_id" | "registration_id">

/** Names of the values that a storage keeps for good from its first start on. */
export type EstablishedName = "pepper_check"

/** A value that the first writer sets for good. */
interface Established {
  readonly name: EstablishedName
  readonly value: string
}

const agent: TableShape<AgentRecord> = {
  name: "agent",
  key: ["agent_id"],
  columns: {
    agent_id: text,
    registration_id: uuid,
    admission_state: text,
    hostname: text,
    features: object,
    labels: orUndefined(object),
    observed_at: moving(instant),
    last_seen_at: moving(instant),
    registered_at: instant,
    accepted_key_hash: orUndefined(text),
    pending_key_hash: orUndefined(text),
    key_fingerprint: text,
    heartbeat_incident_id: orUndefined(text),
    reachable_from: orUndefined(instant),
    checks_ok: integer,
    checks_warning: integer,
    checks_critical: integer,
    checks_unknown: integer,
  },
}

const agent_key: KeyedShape<StoredKey, readonly ["key_hash"], readonly ["agent_id"]> = {
  name: "agent_key",
  key: ["key_hash"],
  locks: "rows",
  group: ["agent_id"],
  groupedWithout: "blacklist_id",
  columns: {
    key_hash: text,
    key_fingerprint: text,
    agent_id: text,
    state: text,
    created_at: instant,
    last_seen_at: instant,
    blacklist_id: orAbsent(text),
    blocked_at: orAbsent(instant),
    hostname: orAbsent(text),
  },
}

const check_state: TableShape<CheckRecord> = {
  name: "check_state",
  key: ["agent_id", "check_id", "registration_id"],
  columns: {
    agent_id: text,
    registration_id: uuid,
    check_id: text,
    status: text,
    exit_code: long,
    last_observed_at: moving(instant),
    received_at: moving(instant),
    incident_key: orUndefined(text),
    summary: moving(orUndefined(text)),
    seen_event_ids: moving(uuids),
    incident_id: orUndefined(text),
    overdue_incident_id: orUndefined(text),
    declaration: orUndefined(text),
  },
}

const expectation: KeyedShape<
  ExpectationRecord,
  readonly ["agent_id", "check_id", "registration_id"],
  readonly ["agent_id", "registration_id"]
> = {
  name: "expectation",
  key: ["agent_id", "check_id", "registration_id"],
  locks: "guarded",
  group: ["agent_id", "registration_id"],
  columns: {
    agent_id: text,
    registration_id: uuid,
    check_id: text,
    origin: text,
    terms: orUndefined({ ...object, whenDamaged: NEVER_DUE }),
    expected_from: instant,
    next_evaluation_at: orUndefined(instant),
    incident_id: orUndefined(text),
    labels: orUndefined(object),
    labelled_at: orUndefined(instant),
  },
}

const check_event: TableShape<StoredHistoryRecord> = {
  name: "check_event",
  key: ["seq"],
  columns: {
    seq: long,
    agent_id: text,
    registration_id: uuid,
    event_id: uuid,
    check_id: text,
    observed_at: instant,
    received_at: instant,
    status: text,
    exit_code: long,
    duration_ms: long,
    output: orAbsent(text),
    output_truncated: boolean,
    notifications_enabled: boolean,
    incident_key: orAbsent(text),
  },
  numbered: "seq",
  kept: ["is_kept"],
}

const outbox: KeyedShape<OutboxRecord, readonly ["id"]> = {
  name: "outbox",
  key: ["id"],
  locks: "rows",
  columns: {
    id: text,
    receiver: text,
    notifier: text,
    state: text,
    incident_id: text,
    event_type: text,
    cause: orUndefined(text),
    incident_seq: integer,
    severity: text,
    summary: orUndefined(text),
    attempts: integer,
    first_attempted_at: orUndefined(instant),
    next_attempt_at: orUndefined(instant),
    next_evaluation_at: orUndefined(instant),
    held_by: orUndefined(array),
    must_send: boolean,
    parent_ended_at: orUndefined(instant),
    first_parent_ended_at: orUndefined(instant),
    released_at: orUndefined(instant),
    last_error: orUndefined(text),
    leased_until: orUndefined(instant),
    created_at: instant,
    age_starts_at: instant,
    updated_at: instant,
  },
}

const alert: KeyedShape<AlertRecord, readonly ["incident_id", "receiver", "severity"]> = {
  name: "alert",
  key: ["incident_id", "receiver", "severity"],
  locks: "rows",
  columns: {
    receiver: text,
    incident_id: text,
    severity: text,
    next_at: instant,
    ended_at: orUndefined(instant),
    leased_until: orUndefined(instant),
  },
}

const removed_registration: TableShape<RemovedRegistration> = {
  name: "removed_registration",
  key: ["registration_id"],
  columns: { agent_id: text, registration_id: uuid },
}

const established: TableShape<Established> = {
  name: "established",
  key: ["name"],
  columns: { name: text, value: text },
}

/**
 * The registry of all tables: those that others refer to first, and in the order in which transactions lock
 * and write rows. Further columns are generated or kept by the storage for itself.
 */
export const storedTables = {
  established,
  agent,
  agent_key,
  check_state,
  expectation,
  check_event,
  incident,
  incident_member,
  incident_change,
  incident_log,
  outbox,
  alert,
  operator,
  integration,
  enrolment,
  watch,
  idempotency_key,
  replica,
  policy_version,
  audit,
  audit_subject,
  silence,
  service_heartbeat,
  removed_registration,
}

export type StoredName = keyof typeof storedTables

/** All tables in the order in which they are copied. */
export const copiedTables: ReadonlyArray<AnyShape> = Object.values(storedTables)
