import type { MemberRef } from "@tocsin/core/incidents/MemberRecord"
import type { Change } from "@tocsin/core/engine/workspace/Table"
import type { WorkspaceChanges } from "@tocsin/core/engine/workspace/Workspace"
import { Effect } from "effect"
import type { SqlError } from "effect/sql"
import type { PgClient } from "../client/PgClient.ts"
import { sqlError } from "../client/toSqlError.ts"
import * as agents from "../tables/AgentTable.ts"
import * as keys from "../tables/AgentKeyTable.ts"
import * as alerts from "../tables/AlertTable.ts"
import * as checks from "../tables/CheckTable.ts"
import { columnArrays } from "../tables/columnArrays.ts"
import * as history from "../tables/HistoryTable.ts"
import * as stories from "../tables/IncidentChangeTable.ts"
import * as incidents from "../tables/IncidentTable.ts"
import * as marks from "../tables/MarkTable.ts"
import * as members from "../tables/MemberTable.ts"
import * as outbox from "../tables/OutboxTable.ts"
import type { RowStatement } from "../tables/TableShape.ts"

/** A transaction's id and the run of the server that gave it: enough to ask later whether it committed. */
export interface TransactionMark {
  readonly transaction_id: bigint
  readonly server_run: string
}

/**
 * How a row that counts as new is written: over an existing one, or as one that must not exist yet. The latter costs an
 * index less, and fails if the row exists.
 */
export type NewRows = "upserted" | "inserted"

/**
 * Writes what a transaction changed, with one statement for each table and kind of change, always in the same order.
 * Returns the transaction's mark, or `undefined` if there was nothing to write.
 */
export const persistChanges = Effect.fnUntraced(function* (
  pg: PgClient["Service"],
  changes: WorkspaceChanges,
  newRows: NewRows,
): Effect.fn.Return<TransactionMark | undefined, SqlError.SqlError> {
  let mark: TransactionMark | undefined
  for (const write of writesOf(changes, newRows)) {
    if (write.rows.length > 0) mark = yield* execute(pg, write)
  }
  return mark
})

const execute = Effect.fnUntraced(function* (pg: PgClient["Service"], { statement, rows, writes }: Write) {
  const [answer] = yield* pg.query(statement, columnArrays(statement.columns, rows))
  // A row that differs from the loaded one was not locked: decide again rather than write half of it.
  if (writes === "each" && answer?.["written"] !== rows.length) {
    return yield* sqlError("SerializationError", {
      message: `${statement.name} wrote ${String(answer?.["written"])} of ${rows.length} rows`,
      operation: "execute",
    })
  }
  // Every write statement answers with these columns; see TableShape.
  return answer as unknown as TransactionMark
})

/** A statement with its rows, of which it takes the columns that it names. */
interface Write {
  readonly statement: RowStatement
  readonly rows: ReadonlyArray<object>
  /** Whether it must write each of these rows once, or may write any number. */
  readonly writes: "each" | "any"
}

/** In the order in which every transaction runs them. */
const writesOf = (changes: WorkspaceChanges, newRows: NewRows): ReadonlyArray<Write> => [
  ...agentWrites(changes),
  ...checkWrites(changes, newRows),
  ...incidentWrites(changes, newRows),
  ...deliveryWrites(changes, newRows),
  ...historyWrites(changes),
]

const each = (statement: RowStatement, rows: ReadonlyArray<object>): Write => ({
  statement,
  rows,
  writes: "each",
})

const agentWrites = (changes: WorkspaceChanges): ReadonlyArray<Write> => {
  const agent = sorted(changes.agents)
  const key = sorted(changes.keys)
  return [
    each(agents.deleteAgents, agent.deleted),
    each(agents.updateAgents, agent.updated),
    each(agents.insertAgents, agent.inserted),
    each(agents.insertRemovedRegistrations, changes.removedAgents),
    each(keys.deleteKeys, key.deleted),
    each(keys.updateKeys, key.updated),
    each(keys.insertKeys, key.inserted),
  ]
}

const checkWrites = (changes: WorkspaceChanges, newRows: NewRows): ReadonlyArray<Write> => {
  const check = sorted(changes.checks)
  return [
    each(checks.deleteChecks, check.deleted),
    each(checks.updateChecks, check.updated),
    each(newRows === "inserted" ? checks.insertChecks : checks.upsertChecks, check.inserted),
  ]
}

const incidentWrites = (changes: WorkspaceChanges, newRows: NewRows): ReadonlyArray<Write> => {
  const incident = sorted(changes.incidents)
  const member = sorted(changes.members)
  // A check may rejoin an incident that it left; a new incident has no members yet.
  const newIncidents = new Set(newRows === "inserted" ? incident.inserted.map(({ id }) => id) : [])
  const isFirst = ({ incident_id }: MemberRef) => newIncidents.has(incident_id)
  return [
    // One transaction may resolve an incident and open another of its key; only one may be open.
    each(incidents.updateIncidents, incident.updated),
    each(newRows === "inserted" ? incidents.insertIncidents : incidents.upsertIncidents, incident.inserted),
    each(members.updateMembers, member.updated),
    each(members.insertMembers, member.inserted.filter(isFirst)),
    each(
      members.upsertMembers,
      member.inserted.filter((row) => !isFirst(row)),
    ),
    each(stories.insertIncidentChanges, changes.incidentChanges),
    { statement: stories.cutStories, rows: changes.storyCuts, writes: "any" },
  ]
}

const deliveryWrites = (changes: WorkspaceChanges, newRows: NewRows): ReadonlyArray<Write> => {
  const item = sorted(changes.outbox)
  const alert = sorted(changes.alerts)
  const mark = sorted(changes.marks)
  return [
    each(outbox.updateOutbox, item.updated),
    each(newRows === "inserted" ? outbox.insertOutbox : outbox.upsertOutbox, item.inserted),
    each(alerts.deleteAlerts, alert.deleted),
    each(alerts.upsertAlerts, [...alert.updated, ...alert.inserted]),
    each(marks.updateMarks, mark.updated),
    each(marks.insertMarks, mark.inserted),
  ]
}

const historyWrites = ({ history: stored, removedChecks }: WorkspaceChanges): ReadonlyArray<Write> => [
  // A check that was removed may have been reported again since.
  { statement: history.deleteHistoryOfChecks, rows: removedChecks, writes: "any" },
  each(history.insertHistory, stored),
]

/** Changes, sorted into inserted, updated and deleted rows. */
const sorted = <Row>(changes: ReadonlyArray<Change<Row>>) => {
  const inserted: Array<Row> = []
  const updated: Array<Row> = []
  const deleted: Array<Row> = []
  for (const { before, after } of changes) {
    if (after !== undefined) (before === undefined ? inserted : updated).push(after)
    else if (before !== undefined) deleted.push(before)
  }
  return { inserted, updated, deleted }
}
