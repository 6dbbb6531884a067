import type { AgentKeyRecord, AgentRecord } from "@tocsin/core/heart/model/AgentRecord"
import type { CheckLabelRecord } from "@tocsin/core/heart/model/CheckLabelRecord"
import type { CheckRecord, HistoryRecord } from "@tocsin/core/heart/model/CheckRecord"
import type { CheckRef } from "@tocsin/core/kernel/model/CheckRef"
import type { ExpectationRecord } from "@tocsin/core/heart/model/ExpectationRecord"
import type { IncidentChangeRecord, IncidentRecord } from "@tocsin/core/heart/model/IncidentRecord"
import type { MemberRecord } from "@tocsin/core/heart/model/MemberRecord"
import type { AlertRecord, OutboxRecord } from "@tocsin/core/heart/model/OutboxRecord"
import type { UnitOfWorkChanges } from "@tocsin/core/kernel/unitOfWork/UnitOfWork"

/**
 * All rows of a storage, built from the changes of every command. Maps keep the order of insertion.
 */
export interface Rows {
  readonly agents: ReadonlyMap<string, AgentRecord>
  readonly keys: ReadonlyMap<string, AgentKeyRecord>
  /** By `agent/check`, without those of deleted agents. */
  readonly checks: ReadonlyMap<string, CheckRecord>
  /** By `agent/check`, without those of deleted agents. */
  readonly expectations: ReadonlyMap<string, ExpectationRecord>
  /** By `agent/check`, without those of deleted agents. */
  readonly labels: ReadonlyMap<string, CheckLabelRecord>
  readonly incidents: ReadonlyMap<string, IncidentRecord>
  /** Past and present, by `incident/agent/check`. */
  readonly members: ReadonlyMap<string, MemberRecord>
  readonly outbox: ReadonlyMap<string, OutboxRecord>
  /** By `incident/severity`. */
  readonly alerts: ReadonlyMap<string, AlertRecord>
  /** The changes of all incidents, oldest first. */
  readonly scenarios: ReadonlyArray<IncidentChangeRecord>
  /** In the order of storing, without those of deleted agents. */
  readonly history: ReadonlyArray<HistoryRecord>
}

/** A storage with nothing in it. */
export const noRows: Rows = {
  agents: new Map(),
  keys: new Map(),
  checks: new Map(),
  expectations: new Map(),
  labels: new Map(),
  incidents: new Map(),
  members: new Map(),
  outbox: new Map(),
  alerts: new Map(),
  scenarios: [],
  history: [],
}

/** One row before and after a command; `undefined` where it did not exist. */
export interface Moved<Row> {
  readonly before: Row | undefined
  readonly after: Row | undefined
}

const withChanges = <Row>(
  rows: ReadonlyMap<string, Row>,
  changes: ReadonlyArray<Moved<Row>>,
  idOf: (row: Row) => string,
): ReadonlyMap<string, Row> => {
  if (changes.length === 0) return rows
  const changed = new Map(rows)
  for (const { before, after } of changes) {
    if (after !== undefined) changed.set(idOf(after), after)
    else if (before !== undefined) changed.delete(idOf(before))
  }
  return changed
}

/** The rows after a command's changes. */
export const applyChanges = (rows: Rows, changes: UnitOfWorkChanges): Rows => {
  const removed = new Set(changes.removed_registration.map((agent) => agent.registration_id))
  const stays = (row: CheckRef) => !removed.has(row.registration_id)
  const ofChecks = <Row extends CheckRef>(
    present: ReadonlyMap<string, Row>,
    rowChanges: ReadonlyArray<Moved<Row>>,
  ) =>
    withChanges(
      removed.size === 0 ? present : new Map(Array.from(present).filter(([, row]) => stays(row))),
      rowChanges.filter(({ after, before }) => {
        const row = after ?? before
        return row !== undefined && stays(row)
      }),
      (row) => `${row.agent_id}/${row.check_id}`,
    )
  const isOfRemoved = (row: HistoryRecord) =>
    changes.removedChecks.some(
      (check) => check.check_id === row.check_id && check.registration_id === row.registration_id,
    )
  const before =
    changes.removedChecks.length === 0 ? rows.history : rows.history.filter((row) => !isOfRemoved(row))
  const history = changes.check_event.length === 0 ? before : [...before, ...changes.check_event]
  return {
    agents: withChanges(rows.agents, changes.agent, (row) => row.agent_id),
    keys: withChanges(rows.keys, changes.agent_key, (row) => row.key_hash),
    checks: ofChecks(rows.checks, changes.check_state),
    expectations: ofChecks(rows.expectations, changes.expectation),
    labels: ofChecks(rows.labels, changes.check_label),
    incidents: withChanges(rows.incidents, changes.incident, (row) => row.id),
    members: withChanges(
      rows.members,
      changes.incident_member,
      (row) => `${row.incident_id}/${row.agent_id}/${row.check_id}`,
    ),
    outbox: withChanges(rows.outbox, changes.outbox, (row) => row.id),
    alerts: withChanges(
      rows.alerts,
      changes.alert,
      (row) => `${row.receiver}/${row.incident_id}/${row.severity}`,
    ),
    scenarios:
      changes.incident_change.length === 0 ? rows.scenarios : [...rows.scenarios, ...changes.incident_change],
    history: removed.size === 0 ? history : history.filter(stays),
  }
}

/** The rows that were added, changed or removed. */
export const moved = <Row>(
  before: ReadonlyMap<string, Row>,
  after: ReadonlyMap<string, Row>,
): ReadonlyArray<Moved<Row>> =>
  Array.from(new Set([...before.keys(), ...after.keys()]), (id) => ({
    before: before.get(id),
    after: after.get(id),
  })).filter((move) => move.before !== move.after)

/** The present members of an incident. */
export const presentMembers = (rows: Rows, incidentId: string): ReadonlyArray<MemberRecord> =>
  membersEver(rows, incidentId).filter((member) => member.left_at === undefined)

/** The present and former members of an incident. */
export const membersEver = (rows: Rows, incidentId: string): ReadonlyArray<MemberRecord> =>
  Array.from(rows.members.values()).filter((member) => member.incident_id === incidentId)
