import type { AgentKeyRecord, AgentRecord } from "@tocsin/core/model/AgentRecord"
import type { AuditRecord } from "@tocsin/core/model/AuditRecord"
import type { CheckName } from "@tocsin/core/model/CheckRecord"
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
import type { IncidentActRecord } from "@tocsin/core/model/IncidentActRecord"
import type { MemberRecord } from "@tocsin/core/model/MemberRecord"
import type { MarkRecord } from "@tocsin/core/model/MarkRecord"
import type { AlertRecord, AlertRef, OutboxRecord } from "@tocsin/core/model/OutboxRecord"
import type { OperatorRecord } from "@tocsin/core/model/OperatorRecord"
import type { SilenceRecord } from "@tocsin/core/model/SilenceRecord"
import type { ReplicaRecord } from "@tocsin/core/model/ReplicaRecord"
import { IncidentRows, OutboxRows } from "./DueRows.ts"
import { ListedRows, RegistrationRows } from "./ListedRows.ts"
import type { EstablishedName } from "@tocsin/core/model/StoredTables"
import type { MemberRanking, Members } from "./MemberRanking.ts"

const itself = <Row>(row: Row): Row => row

/** Results by number. They are added in the order of their numbers. */
export class HistoryRows extends ListedRows<"history", number, StoredHistoryRecord> {
  /** From this number on, results are also in the order in which they were received. */
  inOrderFrom = 0
  #lastReceivedAt: Instant | undefined

  constructor() {
    super({ list: "history", listed: itself, idOf: ({ seq }) => seq })
  }

  override set(seq: number, row: StoredHistoryRecord): this {
    // The clock was set back.
    if (this.#lastReceivedAt !== undefined && row.received_at < this.#lastReceivedAt) this.inOrderFrom = seq
    this.#lastReceivedAt = row.received_at
    return super.set(seq, row)
  }
}

/**
 * All state of a memory storage: the tables of the other storages as Maps. Rows are immutable and
 * shared.
 */
export class MemoryTables {
  readonly agents = new ListedRows<"agents", AgentId, AgentRecord>({
    list: "agents",
    listed: itself,
    idOf: ({ agent_id }) => agent_id,
  })
  /** The blacklist shows those that are blocked. */
  readonly keys = new ListedRows<"blacklist", KeyHash, AgentKeyRecord>({
    list: "blacklist",
    listed: (key) => (key.state === "blocked" ? key : undefined),
    idOf: ({ key_hash }) => key_hash,
  })
  /** Keys that are not blocked, by agent. */
  readonly keysOfAgents = new Map<AgentId, Set<KeyHash>>()
  readonly blacklist = new Map<BlacklistId, KeyHash>()
  /** By registration, then by check ID: the checks of a deleted agent go in one step. */
  readonly checks = new RegistrationRows({ list: "checks", listed: itself })
  /** Like {@link checks}. */
  readonly expectations = new RegistrationRows({
    list: "overdue",
    listed: (row) => (row.incident_id === undefined ? undefined : row),
  })
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
  /** Of large incidents only, each made when its first members are first asked for. */
  readonly rankings = new WeakMap<Members, MemberRanking>()
  /** Present memberships of an agent. */
  readonly membershipsOfAgents = new Map<AgentId, Set<MemberRecord>>()
  readonly outbox = new OutboxRows()
  readonly outboxOfIncidents = new Map<IncidentId, Set<OutboxId>>()
  /** The alerts of an incident, by {@link alertKey}. */
  readonly alerts = new Map<IncidentId, Map<string, AlertRecord>>()
  readonly incidentChanges = new Map<IncidentId, Array<IncidentChangeRecord>>()
  readonly incidentActs = new Map<IncidentId, Array<IncidentActRecord>>()
  mark: MarkRecord | undefined
  readonly operators = new ListedRows<"operators", OperatorName, OperatorRecord>({
    list: "operators",
    listed: itself,
    idOf: ({ name }) => name,
  })
  readonly replicas = new Map<string, ReplicaRecord>()
  /** In the order in which they were recorded. */
  readonly audit = new ListedRows<"audit", AuditId, AuditRecord>({
    list: "audit",
    listed: itself,
    idOf: ({ id }) => id,
  })
  readonly silences = new ListedRows<"silences", SilenceId, SilenceRecord>({
    list: "silences",
    listed: itself,
    idOf: ({ id }) => id,
  })
  readonly established = new Map<EstablishedName, string>()
  readonly removedRegistrations = new Set<string>()
  pendingAgents = 0
  lastSeq = 0
}

/** The name of a member within its incident. */
export const memberKey = ({ agent_id, check_id }: CheckName): string => `${agent_id}/${check_id}`

/** The name of an alert within its incident. */
export const alertKey = ({ receiver, severity }: AlertRef): string => `${receiver}/${severity}`

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
