import { createHash } from "node:crypto"
import { NOT_ACKNOWLEDGED } from "@tocsin/core/heart/model/Acknowledgement"
import { NOT_ANNOUNCED } from "@tocsin/core/heart/model/Announced"
import type { AgentRecord, BlockedKeyRecord } from "@tocsin/core/heart/model/AgentRecord"
import type { CheckRecord } from "@tocsin/core/heart/model/CheckRecord"
import type { NotifierName } from "@tocsin/contract/formats/Status"
import type { IncidentRecord } from "@tocsin/core/heart/model/IncidentRecord"
import type { MemberRecord } from "@tocsin/core/heart/model/MemberRecord"
import type { AlertRecord, OutboxRecord } from "@tocsin/core/heart/model/OutboxRecord"
import type { Decision } from "@tocsin/core/kernel/unitOfWork/Decision"
import type { RowRequest } from "@tocsin/core/kernel/unitOfWork/RowRequest"
import type { UnitOfWork } from "@tocsin/core/kernel/unitOfWork/UnitOfWork"
import {
  AgentId,
  BlacklistId,
  CheckId,
  IncidentId,
  IncidentKey,
  KeyFingerprint,
  KeyHash,
  OutboxId,
  RegistrationId,
} from "@tocsin/contract/formats/Identifiers"
import type { StorageError, TimelineLimits } from "@tocsin/core/kernel/ports/Storage"
import type { Effect } from "effect"
import type { Replica } from "./Replica.ts"
import { START_MILLIS, start } from "./samples.ts"
import { uuidV7 } from "./SeededIds.ts"
import { transact } from "./transact.ts"

const hash = (text: string): string => createHash("sha256").update(text).digest("hex")
const uuid = (name: string): string => uuidV7(BigInt(START_MILLIS), name)

/** The hash of a key that `keyOf` makes, without a pepper. */
export const keyHashOf = (name: string): KeyHash => KeyHash.make(hash(`key of ${name}`))

/** The id of the blacklist row of that key. */
export const blacklistIdOf = (name: string): BlacklistId => BlacklistId.make(hash(`bl1:${keyHashOf(name)}`))

/** Names for rows that a test puts into a storage itself. */
export const registrationIdOf = (name: string): RegistrationId =>
  RegistrationId.make(uuid(`registration ${name}`))
export const incidentIdOf = (name: string): IncidentId => IncidentId.make(uuid(`incident ${name}`))
export const outboxIdOf = (name: string): OutboxId => OutboxId.make(uuid(`outbox ${name}`))

/** An accepted agent with the key of its name. */
export const agentRecord = (name: string, changes: Partial<AgentRecord> = {}): AgentRecord => ({
  agent_id: AgentId.make(name),
  registration_id: registrationIdOf(name),
  admission_state: "accepted",
  hostname: "web-01.example.org",
  features: { push: true, metrics: false },
  labels: undefined,
  observed_at: start,
  last_seen_at: start,
  reachable_from: start,
  registered_at: start,
  accepted_key_hash: keyHashOf(name),
  pending_key_hash: undefined,
  key_fingerprint: KeyFingerprint.make(keyHashOf(name).slice(0, 16)),
  heartbeat_incident_id: undefined,
  process: undefined,
  former_processes: undefined,
  twice_at: undefined,
  listed_as_of: undefined,
  title: undefined,
  given_title: undefined,
  declared_title: undefined,
  checks_ok: 0,
  checks_warning: 0,
  checks_critical: 0,
  checks_unknown: 0,
  ...changes,
})

/** A check of that agent, which is ok. */
export const checkRecord = (
  { agent_id, registration_id }: Pick<AgentRecord, "agent_id" | "registration_id">,
  check: string,
): CheckRecord => ({
  agent_id,
  registration_id,
  check_id: CheckId.make(check),
  status: "ok",
  exit_code: 0,
  last_observed_at: start,
  received_at: start,
  incident_key: undefined,
  summary: undefined,
  seen_event_ids: [],
  incident_id: undefined,
  overdue_incident_id: undefined,
  withdrawn_at: undefined,
  is_of_place: undefined,
  declaration: undefined,
})

/** The blocked key of that name. */
export const blockedKeyRecord = (
  name: string,
  changes: Partial<BlockedKeyRecord> = {},
): BlockedKeyRecord => ({
  key_hash: keyHashOf(name),
  key_fingerprint: KeyFingerprint.make(keyHashOf(name).slice(0, 16)),
  agent_id: AgentId.make(name),
  created_at: start,
  last_seen_at: start,
  state: "blocked",
  blacklist_id: blacklistIdOf(name),
  blocked_at: start,
  hostname: "web-01.example.org",
  ...changes,
})

/** The columns of an incident with one critical, loud member. */
export const ONE_CRITICAL = {
  members_critical: 1,
  member_changes: 1,
  announced: "critical",
  reached_critical_at: start,
} as const satisfies Partial<IncidentRecord>

/** An open incident of the named key `name`, without members. */
export const incidentRecord = (name: string, changes: Partial<IncidentRecord> = {}): IncidentRecord => ({
  id: incidentIdOf(name),
  kind: "named",
  incident_key: IncidentKey.make(name),
  state: "open",
  severity: "critical",
  agent_id: undefined,
  check_id: undefined,
  opener_agent_id: AgentId.make("web-01"),
  opener_check_id: CheckId.make("disk"),
  opened_at: start,
  resolved_at: undefined,
  resolved_by: undefined,
  resolution: undefined,
  summary: undefined,
  member_changes: 0,
  members_warning: 0,
  members_unknown: 0,
  members_critical: 0,
  ...NOT_ACKNOWLEDGED,
  ...NOT_ANNOUNCED,
  steps_began_at: undefined,
  next_evaluation_at: undefined,
  log_entries: 0,
  ...changes,
})

/** The present membership of a check in the incident of `incidentRecord(incident)`. */
export const memberRecord = (
  { incident, agent, check }: { readonly incident: string; readonly agent: string; readonly check: string },
  changes: Partial<MemberRecord> = {},
): MemberRecord => ({
  incident_id: incidentIdOf(incident),
  agent_id: AgentId.make(agent),
  check_id: CheckId.make(check),
  severity: "critical",
  change_seq: 1,
  summary: undefined,
  joined_at: start,
  left_at: undefined,
  is_loud: true,
  is_own: undefined,
  ...changes,
})

/** A pending firing of `incidentRecord(incident)`. */
export const outboxRecord = (
  name: string,
  incident: string,
  changes: Partial<OutboxRecord> = {},
): OutboxRecord => ({
  id: outboxIdOf(name),
  receiver: changes.notifier ?? "debug",
  notifier: "debug",
  state: "pending",
  incident_id: incidentIdOf(incident),
  event_type: "firing",
  cause: "opened",
  why: undefined,
  repaired_by: undefined,
  called_with: undefined,
  incident_seq: 1,
  rotas: undefined,
  recipients: undefined,
  severity: "critical",
  summary: undefined,
  attempts: 0,
  first_attempted_at: undefined,
  next_attempt_at: start,
  next_evaluation_at: undefined,
  holds: undefined,
  must_send: false,
  is_backfill: false,
  released_at: undefined,
  last_error: undefined,
  discarded_because: undefined,
  leased_until: undefined,
  created_at: start,
  age_starts_at: start,
  updated_at: start,
  ...changes,
})

/** Receivers of alerts; storages may keep those of the first one apart. */
export const ALERT_RECEIVERS: readonly [NotifierName, NotifierName] = ["alert_router", "second_router"]

/** The alert of `incidentRecord(incident)` at the severity `critical`, firing. */
export const alertRecord = (incident: string, changes: Partial<AlertRecord> = {}): AlertRecord => ({
  receiver: "alert_router",
  incident_id: incidentIdOf(incident),
  severity: "critical",
  next_at: start,
  ended_at: undefined,
  leased_until: undefined,
  ...changes,
})

/** Limits of an incident's scenario: the number of rows of each kind. */
export const atMost = (rows: number): TimelineLimits => ({
  members: rows,
  changes: rows,
  log: rows,
  outbox: rows,
})

/** Writes rows in one transaction, as a decision would. `rowRequests` load the rows to replace. */
export const write = (
  { storage }: Replica,
  rowRequests: ReadonlyArray<RowRequest>,
  put: (unit: UnitOfWork) => void,
): Effect.Effect<void, StorageError> =>
  transact(storage, function* (unit): Decision<void> {
    yield* rowRequests
    put(unit)
  })
