import type { MemberRef } from "@tocsin/core/incidents/MemberRecord"
import type { Change } from "@tocsin/core/engine/workspace/Table"
import type { WorkspaceChanges } from "@tocsin/core/engine/workspace/Workspace"
import { Effect } from "effect"
import type { SqlError } from "effect/sql"
import type { PgClient } from "../client/PgClient.ts"
import { sqlError } from "../client/toSqlError.ts"
import { agentTable, removedRegistrationTable } from "../tables/AgentTable.ts"
import { keyTable } from "../tables/AgentKeyTable.ts"
import { checkTable } from "../tables/CheckTable.ts"
import { deleteHistoryOfChecks, insertHistory } from "../tables/HistoryTable.ts"
import { cutStories, incidentChangeTable, incidentTable, memberTable } from "../tables/IncidentTable.ts"
import { columnArrays, type RowStatement } from "../tables/makeTable.ts"
import { markTable } from "../tables/MarkTable.ts"
import { alertTable, outboxTable } from "../tables/OutboxTable.ts"

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
    each(agentTable.delete, agent.deleted),
    each(agentTable.update, agent.updated),
    each(agentTable.insert, agent.inserted),
    each(removedRegistrationTable.insert, changes.removedAgents),
    each(keyTable.delete, key.deleted),
    each(keyTable.update, key.updated),
    each(keyTable.insert, key.inserted),
  ]
}

const checkWrites = (changes: WorkspaceChanges, newRows: NewRows): ReadonlyArray<Write> => {
  const check = sorted(changes.checks)
  return [
    each(checkTable.delete, check.deleted),
    each(checkTable.update, check.updated),
    each(newRows === "inserted" ? checkTable.insert : checkTable.upsert, check.inserted),
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
    each(incidentTable.update, incident.updated),
    each(newRows === "inserted" ? incidentTable.insert : incidentTable.upsert, incident.inserted),
    each(memberTable.update, member.updated),
    each(memberTable.insert, member.inserted.filter(isFirst)),
    each(
      memberTable.upsert,
      member.inserted.filter((row) => !isFirst(row)),
    ),
    each(incidentChangeTable.insert, changes.incidentChanges),
    { statement: cutStories, rows: changes.storyCuts, writes: "any" },
  ]
}

const deliveryWrites = (changes: WorkspaceChanges, newRows: NewRows): ReadonlyArray<Write> => {
  const item = sorted(changes.outbox)
  const alert = sorted(changes.alerts)
  const mark = sorted(changes.marks)
  return [
    each(outboxTable.update, item.updated),
    each(newRows === "inserted" ? outboxTable.insert : outboxTable.upsert, item.inserted),
    each(alertTable.delete, alert.deleted),
    each(alertTable.upsert, [...alert.updated, ...alert.inserted]),
    each(markTable.update, mark.updated),
    each(markTable.insert, mark.inserted),
  ]
}

const historyWrites = ({ history: stored, removedChecks }: WorkspaceChanges): ReadonlyArray<Write> => [
  // A check that was removed may have been reported again since.
  { statement: deleteHistoryOfChecks, rows: removedChecks, writes: "any" },
  each(insertHistory, stored),
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
