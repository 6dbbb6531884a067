import type { AgentKeyRecord, AgentRecord } from "@tocsin/core/model/AgentRecord"
import type { AuditRecord } from "@tocsin/core/model/AuditRecord"
import type { CheckName, CheckRecord, CheckRef } from "@tocsin/core/model/CheckRecord"
import type { Labels } from "@tocsin/contract/Labels"
import type { AuditId } from "@tocsin/contract/Audit"
import type {
  AgentId,
  BlacklistId,
  CheckId,
  EventId,
  IncidentId,
  IncidentKey,
  KeyHash,
  OutboxId,
  SilenceId,
} from "@tocsin/contract/Identifiers"
import type { Instant } from "@tocsin/contract/Instant"
import type { OperatorName } from "@tocsin/contract/Operators"
import type { StoredHistoryRecord } from "@tocsin/core/model/ListDefinitions"
import type { IncidentChangeRecord, IncidentKind } from "@tocsin/core/model/IncidentRecord"
import type { IncidentLogRecord } from "@tocsin/core/model/IncidentLogRecord"
import type { MemberRecord } from "@tocsin/core/model/MemberRecord"
import type { ServiceHeartbeatRecord } from "@tocsin/core/model/ServiceHeartbeatRecord"
import type { AlertRecord, AlertRef, OutboxRecord } from "@tocsin/core/model/OutboxRecord"
import type { ExpectationRecord } from "@tocsin/core/model/ExpectationRecord"
import type { OperatorRecord } from "@tocsin/core/model/OperatorRecord"
import type { SilenceRecord } from "@tocsin/core/model/SilenceRecord"
import type { ReplicaRecord } from "@tocsin/core/model/ReplicaRecord"
import { IncidentRows, OutboxRows } from "./DueRows.ts"
import type { EstablishedName } from "@tocsin/core/model/StoredTables"

/** Results by number. They are added in the order of their numbers. */
export class HistoryRows extends Map<number, StoredHistoryRecord> {
  /** From this number on, results are also in the order in which they were received. */
  inOrderFrom = 0
  #lastReceivedAt: Instant | undefined

  override set(seq: number, row: StoredHistoryRecord): this {
    // The clock was set back.
    if (this.#lastReceivedAt !== undefined && row.received_at < this.#lastReceivedAt) this.inOrderFrom = seq
    this.#lastReceivedAt = row.received_at
    return super.set(seq, row)
  }
}

/**
 * Rows of checks by registration, then by check ID: the checks of a deleted agent go in one step. They
 * stay until retention removes them, and a new registration may have checks of the same IDs.
 */
export class RegistrationRows<Row extends CheckRef> extends Map<string, Map<string, Row>> {
  /** Inserts or replaces a row. */
  put(row: Row): void {
    const rows = this.get(row.registration_id)
    if (rows === undefined) this.set(row.registration_id, new Map([[row.check_id, row]]))
    else rows.set(row.check_id, row)
  }

  /** Removes a row, and with the last one what is kept of its registration. */
  remove({ check_id, registration_id }: CheckRef): void {
    const rows = this.get(registration_id)
    rows?.delete(check_id)
    if (rows?.size === 0) this.delete(registration_id)
  }
}

/**
 * All state of a memory storage: the tables of the other storages as Maps. Rows are immutable and
 * shared.
 */
export class MemoryTables {
  readonly agents = new Map<AgentId, AgentRecord>()
  readonly keys = new Map<KeyHash, AgentKeyRecord>()
  /** Keys that are not blocked, by agent. */
  readonly keysOfAgents = new Map<AgentId, Set<KeyHash>>()
  readonly blacklist = new Map<BlacklistId, KeyHash>()
  readonly checks = new RegistrationRows<CheckRecord>()
  readonly expectations = new RegistrationRows<ExpectationRecord>()
  /** By number, in the order in which they were stored. */
  readonly history = new HistoryRows()
  /** The number of the newest result of each check, by registration, then by check ID. */
  readonly newestResults = new Map<string, Map<CheckId, number>>()
  /** Event IDs in the history with their checks, by registration. */
  readonly knownEvents = new Map<string, Map<EventId, CheckId>>()
  readonly incidents = new IncidentRows()
  /** The open incident of each key. */
  readonly openIncidents: Readonly<Record<IncidentKind, Map<IncidentKey, IncidentId>>> = {
    named: new Map(),
    automatic: new Map(),
  }
  /** Memberships of an incident, present and past, by {@link memberKey}. */
  readonly members = new Map<IncidentId, Map<string, MemberRecord>>()
  /** Present memberships of an agent. */
  readonly membershipsOfAgents = new Map<AgentId, Set<MemberRecord>>()
  readonly outbox = new OutboxRows()
  readonly outboxOfIncidents = new Map<IncidentId, Set<OutboxId>>()
  /** The alerts of an incident, by {@link alertKey}. */
  readonly alerts = new Map<IncidentId, Map<string, AlertRecord>>()
  readonly incidentChanges = new Map<IncidentId, Array<IncidentChangeRecord>>()
  readonly incidentLog = new Map<IncidentId, Array<IncidentLogRecord>>()
  serviceHeartbeat: ServiceHeartbeatRecord | undefined
  readonly operators = new Map<OperatorName, OperatorRecord>()
  readonly replicas = new Map<string, ReplicaRecord>()
  /** In the order in which they were recorded. */
  readonly audit = new Map<AuditId, AuditRecord>()
  readonly silences = new Map<SilenceId, SilenceRecord>()
  readonly established = new Map<EstablishedName, string>()
  readonly removedRegistrations = new Set<string>()
  pendingAgents = 0
  lastSeq = 0
}

/** The name of a member within its incident. */
export const memberKey = ({ agent_id, check_id }: CheckName): string => `${agent_id}/${check_id}`

/** The name of an alert within its incident. */
export const alertKey = ({ receiver, severity }: AlertRef): string => `${receiver}/${severity}`

/** The labels of a check of an agent that exists. */
export const labelsOf = (
  { agents, expectations }: MemoryTables,
  { agent_id, check_id }: CheckName,
): Labels | undefined => expectations.get(agents.get(agent_id)?.registration_id ?? "")?.get(check_id)?.labels

const NONE: ReadonlyArray<never> = []

/** The outbox items of one incident. */
export const outboxOf = (tables: MemoryTables, id: IncidentId): ReadonlyArray<OutboxRecord> => {
  const items: Array<OutboxRecord> = []
  for (const outboxId of tables.outboxOfIncidents.get(id) ?? NONE) {
    const item = tables.outbox.get(outboxId)
    if (item !== undefined) items.push(item)
  }
  return items
}
