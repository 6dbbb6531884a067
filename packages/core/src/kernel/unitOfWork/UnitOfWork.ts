import type { AgentRecord } from "../../heart/model/AgentRecord.ts"
import type { AuditRecord } from "../../heart/model/AuditRecord.ts"
import type { ChangeStampRecord } from "../model/ChangeStampRecord.ts"
import type { CheckRecord, HistoryRecord } from "../../heart/model/CheckRecord.ts"
import type { CheckRef } from "../model/CheckRef.ts"
import type { AgentId, IncidentId } from "@tocsin/contract/formats/Identifiers"
import type { OutboxState } from "@tocsin/contract/formats/Status"
import type {
  IncidentChangeRecord,
  IncidentLogRecord,
  IncidentRecord,
  IncidentRef,
} from "../../heart/model/IncidentRecord.ts"
import { cutOf, type TimelineCut } from "../model/timelineCut.ts"
import { fromMicros, type Instant } from "@tocsin/contract/formats/Instant"
import type { MemberRecord } from "../../heart/model/MemberRecord.ts"
import { isPresent, Standings } from "./Standings.ts"
import type { AlertRecord, OutboxRecord } from "../../heart/model/OutboxRecord.ts"
import { NO_TOPICS, topic, type Topics, topicsOfAction } from "../topics/Topics.ts"
import type { KeyedName } from "../../lists/StoredTables.ts"
import type { NumberInput } from "../model/NumberInput.ts"
import type { LoadedRanking } from "./RowRequest.ts"
import {
  type KeyedTable,
  KeyedTables,
  KnownEvents,
  type OpenIncident,
  type UnitTables,
} from "./KeyedTables.ts"
import { type CommandChanges, NO_CHANGES, OTHER_CHANGES, Table, type WriteCount } from "./Table.ts"

const CHECKS = topic("checks")
const INCIDENTS = topic("incidents")

/** The rows of one transaction: as loaded, and as decided. A storage persists exactly its {@link UnitOfWork.changes}. */
export class UnitOfWork {
  readonly #count: WriteCount = { writes: 0, topics: NO_TOPICS }
  readonly agents: Table<AgentId, AgentRecord>
  readonly keyed: KeyedTables
  readonly checks: Table<CheckRef, CheckRecord>
  readonly incidents: Table<IncidentId, IncidentRecord>
  /** Which incident is open for a key. */
  readonly openIncidents: Table<IncidentRef, OpenIncident>
  readonly knownEvents = new KnownEvents()
  #found: Map<string, unknown> | undefined
  #rankings: Map<IncidentId, LoadedRanking> | undefined
  #standings: Standings | undefined
  readonly #removedChecks: Array<CheckRecord> = []
  readonly #incidentChanges: Array<IncidentChangeRecord> = []
  readonly #incidentLog: Array<IncidentLogRecord> = []
  readonly #audit: Array<AuditRecord> = []
  readonly #removedAgents: Array<AgentRecord> = []
  #stored: Array<HistoryRecord> = []
  #measured: Array<NumberInput> = []
  #timelineCuts: Map<IncidentId, TimelineCut> | undefined
  #raised: Map<ChangeStampRecord["name"], () => string> | undefined
  #pendingAgents: { readonly loaded: number } | undefined
  #pendingAgentsAdded = 0
  /** How often rows had changed when the present command began. */
  #writesBefore = 0
  #deliveriesBefore = 0
  /** The moment of the present command. */
  now = fromMicros(0n)

  constructor(tables: UnitTables) {
    this.agents = new Table(tables.agents, this.#count)
    this.keyed = new KeyedTables(tables, this.#count)
    this.checks = new Table(tables.checks, this.#count)
    this.incidents = new Table(tables.incidents, this.#count)
    this.openIncidents = new Table(tables.openIncidents, this.#count)
  }

  /** This unit of work, for a command of a moment. */
  at(now: Instant): this {
    this.now = now
    return this
  }

  /** Results of searches that are made once. */
  get found(): Map<string, unknown> {
    return (this.#found ??= new Map())
  }

  /** How far down their members' ranking incidents are loaded. */
  get rankings(): Map<IncidentId, LoadedRanking> {
    return (this.#rankings ??= new Map())
  }

  of<N extends KeyedName>(name: N): KeyedTable<N> {
    return this.keyed.of(name)
  }

  get keys(): KeyedTable<"agent_key"> {
    return this.keyed.of("agent_key")
  }

  get expectations(): KeyedTable<"expectation"> {
    return this.keyed.of("expectation")
  }

  get members(): KeyedTable<"incident_member"> {
    return this.keyed.of("incident_member")
  }

  get outbox(): KeyedTable<"outbox"> {
    return this.keyed.of("outbox")
  }

  get alerts(): KeyedTable<"alert"> {
    return this.keyed.of("alert")
  }

  /** The number of pending agents in this transaction. Needs the row request `pendingAgents`. */
  get pendingAgents(): number {
    if (this.#pendingAgents === undefined)
      throw new Error("pending agents were decided on without being counted")
    return this.#pendingAgents.loaded + this.#pendingAgentsAdded
  }

  /** Loads the stored number of pending agents; ignored if already known. */
  loadPendingAgents(loaded: number): void {
    this.#pendingAgents ??= { loaded }
  }

  get knowsPendingAgents(): boolean {
    return this.#pendingAgents !== undefined
  }

  putAgent(agent: AgentRecord): void {
    this.#pendingAgentsAdded += pendingCount(agent) - pendingCount(this.agents.get(agent.agent_id))
    this.agents.put(agent)
  }

  removeAgent(agent: AgentRecord): void {
    this.#pendingAgentsAdded -= pendingCount(agent)
    this.agents.delete(agent.agent_id)
    this.#removedAgents.push(agent)
  }

  store(row: HistoryRecord): void {
    this.#wrote(CHECKS)
    this.#stored.push(row)
    this.knownEvents.add(row.registration_id, row.event_id, row.check_id)
  }

  removeCheck(check: CheckRecord): void {
    const { check_id, registration_id } = check
    this.checks.delete(check)
    this.#wrote(CHECKS)
    this.#stored = this.#stored.filter(
      (row) => row.check_id !== check_id || row.registration_id !== registration_id,
    )
    this.knownEvents.removeCheck(check)
    this.#removedChecks.push(check)
    this.measure({ agent_id: check.agent_id, check_id, registration_id })
  }

  /** Adds a change to an incident's history, which drops older changes once it is long. */
  recordChange(change: IncidentChangeRecord): void {
    this.#wrote(INCIDENTS)
    this.#incidentChanges.push(change)
    const cut = cutOf(change.incident_id, change.seq)
    if (cut !== undefined) (this.#timelineCuts ??= new Map()).set(cut.incident_id, cut)
  }

  /** Raises a stamp: passes follow what this transaction changes. An attempt that is not written draws no ID for it. */
  raise(name: ChangeStampRecord["name"], newStamp: (now: Instant) => string): void {
    const { now } = this
    this.#wrote(NO_TOPICS)
    ;(this.#raised ??= new Map()).set(name, () => newStamp(now))
  }

  recordAudit(row: AuditRecord): void {
    this.#wrote(topicsOfAction(row.action))
    this.#audit.push(row)
  }

  recordLogEntry(act: IncidentLogRecord): void {
    this.#wrote(INCIDENTS)
    this.#incidentLog.push(act)
  }

  /** Loads an incident with its alerts and its outbox items that were not discarded untried. */
  loadIncident(
    incident: IncidentRecord,
    outbox: Iterable<OutboxRecord>,
    alerts: Iterable<AlertRecord>,
  ): void {
    for (const alert of alerts) this.alerts.load(alert, alert)
    this.incidents.load(incident.id, incident)
    if (incident.state === "open") this.openIncidents.load(incident, incident)
    for (const item of outbox) this.outbox.load(item.id, item)
  }

  /** The open incident of a key. Needs the row request `openIncidents`. */
  openIncident(ref: IncidentRef): IncidentRecord | undefined {
    const open = this.openIncidents.get(ref)
    return open === undefined ? undefined : this.incidents.get(open.id)
  }

  /** The loaded present members of an incident. */
  membersOf(incidentId: IncidentId): ReadonlyArray<MemberRecord> {
    return this.members.group(`incident/${incidentId}`).filter(isPresent)
  }

  putMember(member: MemberRecord): void {
    this.members.put(member)
    this.#standings?.put(member)
  }

  worstOf(incidentId: IncidentId): MemberRecord | undefined {
    return (this.#standings ??= new Standings(this.members)).worstOf(incidentId)
  }

  /** The present memberships of an agent. Needs the group of the agent. */
  membershipsOf(agentId: AgentId): ReadonlyArray<MemberRecord> {
    return this.members.group(`agent/${agentId}`).filter(isPresent)
  }

  /** Results in order, stored or not, or a deleted check: its numbers count, or end, after the commit. */
  measure(measured: NumberInput): void {
    this.#measured.push(measured)
  }

  /** Starts a command; `commandChanges` leaves out the changes of earlier ones. */
  beginCommand(): void {
    this.#writesBefore = this.#count.writes
    this.#count.topics = NO_TOPICS
    this.#measured = []
    this.#deliveriesBefore = this.keyed.deliveries
    this.incidents.beginRecording()
  }

  commandChanges(): CommandChanges {
    if (this.#count.writes === this.#writesBefore) return NO_CHANGES
    const incidents = this.incidents.recorded()
    const isOutboxChanged = this.keyed.deliveries > this.#deliveriesBefore
    // Most commands are heartbeats: these allocate nothing.
    const { topics } = this.#count
    const measured = this.#measured
    if (incidents.length === 0 && !isOutboxChanged && topics === NO_TOPICS && measured.length === 0)
      return OTHER_CHANGES
    return { isWrite: true, isOutboxChanged, topics, incidents, measured }
  }

  #wrote(topics: Topics): void {
    this.#count.writes += 1
    this.#count.topics |= topics
  }

  /** Whether it changes more than rows of agents and checks, which most transactions change alone. */
  get changesMore(): boolean {
    return this.#count.writes > this.agents.writes + this.checks.writes || this.#removedAgents.length > 0
  }

  /**
   * Whether it leaves something that any process may deliver: an item that waits, or one that
   * another item waited for. Not a claim, nor a sent item, which its sender follows up.
   */
  get leavesDelivery(): boolean {
    const items = this.keyed.changesOf("outbox")
    return items.some(({ after }) => after !== undefined && isForAnyone.has(after.state))
  }

  changes() {
    for (const [name, newStamp] of this.#raised ?? [])
      this.of("change_stamp").put({ name, stamp: newStamp() })
    this.#raised = undefined
    return {
      // First: V8 copies a whole object fast, and adds properties fast, but not the other way round.
      ...this.keyed.changes(),
      agent: this.agents.changes(),
      check_state: this.checks.changes(),
      incident: this.incidents.changes(),
      incident_change: this.#incidentChanges as ReadonlyArray<IncidentChangeRecord>,
      audit: this.#audit as ReadonlyArray<AuditRecord>,
      incident_log: this.#incidentLog as ReadonlyArray<IncidentLogRecord>,
      /** Changes of incidents to delete once the new ones are written. */
      timelineCuts: Array.from(this.#timelineCuts?.values() ?? []) as ReadonlyArray<TimelineCut>,
      /** Remove their history before adding new rows: some may have been reported again. */
      removedChecks: this.#removedChecks as ReadonlyArray<CheckRecord>,
      /** New history rows, in the order of their numbers. */
      check_event: this.#stored as ReadonlyArray<HistoryRecord>,
      /** Deleted agents. Retention removes the checks and history of their registrations. */
      removed_registration: this.#removedAgents as ReadonlyArray<AgentRecord>,
    }
  }
}

export type UnitOfWorkChanges = ReturnType<UnitOfWork["changes"]>

const isForAnyone: ReadonlySet<OutboxState> = new Set(["pending", "retry", "discarded"])

const pendingCount = (agent: AgentRecord | undefined): number =>
  agent?.admission_state === "pending" ? 1 : 0
