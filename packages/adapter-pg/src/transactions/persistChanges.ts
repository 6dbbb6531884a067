import { subjectRowsOf } from "@tocsin/core/heart/model/AuditRecord"
import type { MemberRecord } from "@tocsin/core/heart/model/MemberRecord"
import { type KeyedName, keyedNames, type KeyedRows, namesOfChecks } from "@tocsin/core/lists/StoredTables"
import type { Change } from "@tocsin/core/kernel/unitOfWork/Table"
import type { UnitOfWorkChanges } from "@tocsin/core/kernel/unitOfWork/UnitOfWork"
import { Effect } from "effect"
import type { SqlError } from "effect/sql"
import type { PgClient } from "../client/PgClient.ts"
import { sqlError } from "../client/toSqlError.ts"
import { agentTable, removedRegistrationTable } from "../tables/AgentTable.ts"
import { auditSubjectTable, auditTable, keyedTables } from "../tables/keyedTables.ts"
import {
  checkTable,
  deleteHistoryOfChecks,
  deleteSeriesOfChecks,
  insertHistory,
  putDeletionsOfChecks,
} from "../tables/CheckTable.ts"
import {
  cutTimelines,
  incidentLogTable,
  incidentChangeTable,
  incidentTable,
  memberTable,
} from "../tables/IncidentTable.ts"
import { columnArrays, type RowStatement, type Table, type Updated } from "../tables/makeTable.ts"

/** A transaction's id and the run of the server that gave it: enough to ask later whether it committed. */
export interface TransactionRef {
  readonly transaction_id: bigint
  readonly server_run: string
}

/** Whether a new row may replace one. Otherwise it fails if the row exists, and costs an index less. */
export type NewRows = "upserted" | "inserted"

/** One statement for each table and kind of change, always in one order; `undefined` if there is none. */
export const persistChanges = Effect.fnUntraced(function* (
  pg: PgClient["Service"],
  changes: UnitOfWorkChanges,
  newRows: NewRows,
): Effect.fn.Return<TransactionRef | undefined, SqlError.SqlError> {
  let ref: TransactionRef | undefined
  for (const write of writesOf(changes, newRows)) {
    if (write.rows.length > 0) ref = yield* execute(pg, write)
  }
  return ref
})

const execute = Effect.fnUntraced(function* (pg: PgClient["Service"], { statement, rows, writes }: Write) {
  const [answer] = yield* pg.query(statement.text, columnArrays(statement.columns, rows))
  // A row that differs from the loaded one was not locked: decide again rather than write half of
  // it.
  if (writes === "each" && answer?.["written"] !== rows.length) {
    return yield* sqlError("SerializationError", {
      message: `${statement.name} wrote ${String(answer?.["written"])} of ${rows.length} rows`,
      operation: "execute",
    })
  }
  // Every write statement answers with these columns; see `reporting`.
  return answer as unknown as TransactionRef
})

interface Write {
  readonly statement: RowStatement
  readonly rows: ReadonlyArray<object>
  /** Whether it must write each of these rows once, or may write any number. */
  readonly writes: "each" | "any"
}

/** In the order in which every transaction runs them. */
const writesOf = (changes: UnitOfWorkChanges, newRows: NewRows): ReadonlyArray<Write> => {
  const newIncidents = new Set(
    changes.incident.flatMap(({ before, after }) => (before === undefined ? after?.id : [])),
  )
  // A check may rejoin an incident that it left; a new incident has no members yet.
  const isFirst = ({ after }: Change<MemberRecord>) =>
    newRows === "inserted" && after !== undefined && newIncidents.has(after.incident_id)
  const members = changes.incident_member
  const others = { ...changes, incident_member: members.filter((member) => !isFirst(member)) }
  return [
    ...rowWrites(agentTable, changes.agent, "inserted"),
    each(removedRegistrationTable.insert, changes.removed_registration),
    ...rowWrites(checkTable, changes.check_state, newRows),
    // One transaction may resolve an incident and then open another of its key; only one may be
    // open.
    ...rowWrites(incidentTable, changes.incident, newRows),
    ...rowWrites(memberTable, members.filter(isFirst), "inserted"),
    ...keyedNames.flatMap((name) => keyedWrites(name, others, newRowsOf(name, newRows))),
    each(incidentChangeTable.insert, changes.incident_change),
    each(incidentLogTable.insert, changes.incident_log),
    { statement: cutTimelines, rows: changes.timelineCuts, writes: "any" },
    each(auditTable.insert, changes.audit),
    each(auditSubjectTable.insert, subjectRowsOf(changes.audit)),
    // A check that was removed may have been reported again since.
    { statement: deleteHistoryOfChecks, rows: changes.removedChecks, writes: "any" },
    { statement: deleteSeriesOfChecks, rows: changes.removedChecks, writes: "any" },
    { statement: putDeletionsOfChecks, rows: changes.removedChecks, writes: "any" },
    each(insertHistory, changes.check_event),
  ]
}

const WRITTEN_AS_ASKED = new Set<KeyedName>([...namesOfChecks, "outbox"])

/** How new rows of a table are written, where it is not as the transaction asks. */
const newRowsOf = (name: KeyedName, newRows: NewRows): NewRows =>
  name === "alert" || name === "change_stamp" || name === "incident_member"
    ? "upserted"
    : WRITTEN_AS_ASKED.has(name)
      ? newRows
      : "inserted"

const keyedWrites = <N extends KeyedName>(
  name: N,
  changes: { readonly [Name in N]: ReadonlyArray<Change<KeyedRows[Name]>> },
  newRows: NewRows,
): ReadonlyArray<Write> =>
  changes[name].length === 0 ? [] : rowWrites(keyedTables[name], changes[name], newRows)

const each = (statement: RowStatement, rows: ReadonlyArray<object>): Write => ({
  statement,
  rows,
  writes: "each",
})

/** The writes of one table: deletions, then updates, then new rows. */
const rowWrites = <Row extends object>(
  table: Pick<Table<Row>, "delete" | "updateOf" | "insertOf" | "upsert">,
  changes: ReadonlyArray<Change<Row>>,
  newRows: NewRows,
): ReadonlyArray<Write> => {
  const inserted: Array<Row> = []
  const updated: Array<Updated<Row>> = []
  const deleted: Array<Row> = []
  for (const { before, after } of changes) {
    if (after === undefined) {
      if (before !== undefined) deleted.push(before)
    } else if (before === undefined) inserted.push(after)
    else updated.push({ before, after })
  }
  const writes: Array<Write> = []
  if (deleted.length > 0) writes.push(each(table.delete, deleted))
  if (updated.length > 0) {
    const later = updated.map(({ after }) => after)
    writes.push(each(table.updateOf(updated), later))
  }
  if (inserted.length > 0)
    writes.push(each(newRows === "inserted" ? table.insertOf(inserted) : table.upsert, inserted))
  return writes
}
