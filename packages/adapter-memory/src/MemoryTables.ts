import type { AgentKeyRecord, AgentRecord } from "@tocsin/core/heart/model/AgentRecord"
import type { AuditRecord } from "@tocsin/core/heart/model/AuditRecord"
import type { CheckRecord, StoredHistoryRecord } from "@tocsin/core/heart/model/CheckRecord"
import type { CheckName, CheckRef } from "@tocsin/core/kernel/model/CheckRef"
import type { Labels } from "@tocsin/contract/labels/Labels"
import type { AuditId } from "@tocsin/contract/audit/Audit"
import type { AgentId, CheckId, EventId, IncidentId, IncidentKey } from "@tocsin/contract/formats/Identifiers"
import type { Instant } from "@tocsin/contract/formats/Instant"
import type {
  IncidentChangeRecord,
  IncidentKind,
  IncidentLogRecord,
} from "@tocsin/core/heart/model/IncidentRecord"
import type { MemberRecord } from "@tocsin/core/heart/model/MemberRecord"
import type { AlertRecord } from "@tocsin/core/heart/model/OutboxRecord"
import type { CheckLabelRecord } from "@tocsin/core/heart/model/CheckLabelRecord"
import type { ExpectationRecord } from "@tocsin/core/heart/model/ExpectationRecord"
import {
  forNames,
  groupText,
  type KeyedName,
  keyedNames,
  type KeyedRows,
  keyedShape,
  keyText,
  type EstablishedName,
} from "@tocsin/core/lists/StoredTables"
import type { AnyShape } from "@tocsin/core/kernel/model/TableShape"
import { IncidentRows, OutboxRows, IndexedRows } from "./IndexedRows.ts"
import type { KnownSeries, NumberPart } from "@tocsin/core/kernel/ports/NumberStorage"

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
class RegistrationRows<Row extends CheckRef> extends Map<string, Map<string, Row>> {
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

export type KeyedMaps = { readonly [N in KeyedName]: IndexedRows<KeyedRows[N], "group"> }

const groupOf = <N extends KeyedName>(name: N) => {
  const { group, groupedWithout }: AnyShape = keyedShape(name)
  return (row: KeyedRows[N]): string | undefined =>
    group === undefined ||
    (groupedWithout !== undefined && row[groupedWithout as keyof KeyedRows[N]] !== undefined)
      ? undefined
      : groupText(name, row)
}

/** All state of a memory storage: the tables of the other storages as Maps. Rows are immutable and shared. */
export class MemoryTables {
  readonly agents = new Map<AgentId, AgentRecord>()
  readonly checks = new RegistrationRows<CheckRecord>()
  /** By number, in the order in which they were stored. */
  readonly history = new HistoryRows()
  /** The number of the newest result of each check, by registration, then by check ID. */
  readonly newestResults = new Map<string, Map<CheckId, number>>()
  /** Event IDs in the history with their checks, by registration. */
  readonly knownEvents = new Map<string, Map<EventId, CheckId>>()
  readonly incidents = new IncidentRows()
  readonly openIncidents: Readonly<Record<IncidentKind, Map<IncidentKey, IncidentId>>> = {
    named: new Map(),
    automatic: new Map(),
  }
  readonly incidentChanges = new Map<IncidentId, Array<IncidentChangeRecord>>()
  readonly incidentLog = new Map<IncidentId, Array<IncidentLogRecord>>()
  /** Numbers over time, by a text of their keys. */
  readonly numberSeries = new Map<string, KnownSeries>()
  readonly numberParts = new Map<string, NumberPart>()
  /** The tables that are requested by key or by group, by {@link keyText}. */
  readonly keyed = {
    ...forNames<KeyedName, KeyedMaps>(keyedNames, (name) => new IndexedRows({ group: groupOf(name) })),
    agent_key: new IndexedRows({
      group: groupOf("agent_key"),
      blacklist_id: (key: AgentKeyRecord) => (key.state === "blocked" ? key.blacklist_id : undefined),
    }),
    check_label: new IndexedRows({
      group: groupOf("check_label"),
      registration_id: (row: CheckLabelRecord) => row.registration_id,
    }),
    expectation: new IndexedRows({
      group: groupOf("expectation"),
      registration_id: (row: ExpectationRecord) => row.registration_id,
    }),
    incident_member: new IndexedRows({
      group: groupOf("incident_member"),
      incident_id: (member: MemberRecord) => member.incident_id,
      check_id: ({ check_id, left_at }: MemberRecord) => (left_at === undefined ? check_id : undefined),
    }),
    outbox: new OutboxRows(),
    alert: new IndexedRows({
      group: groupOf("alert"),
      incident_id: (alert: AlertRecord) => alert.incident_id,
    }),
  }
  /** In the order in which they were recorded. */
  readonly audit = new Map<AuditId, AuditRecord>()
  readonly established = new Map<EstablishedName, string>()
  readonly removedRegistrations = new Set<string>()
  pendingAgents = 0
  lastSeq = 0
}

/** The labels of a check of an agent that exists. */
export const labelsOf = ({ agents, keyed }: MemoryTables, name: CheckName): Labels | undefined => {
  const agent = agents.get(name.agent_id)
  if (agent === undefined) return undefined
  const { registration_id } = agent
  return keyed.check_label.get(keyText("check_label", { ...name, registration_id }))?.labels
}
