import { subjectRowsOf } from "@tocsin/core/model/AuditRecord"
import type { MemberRecord } from "@tocsin/core/model/MemberRecord"
import type { Change } from "@tocsin/core/engine/unitOfWork/Table"
import type { UnitOfWorkChanges } from "@tocsin/core/engine/unitOfWork/UnitOfWork"
import { Effect } from "effect"
import type { SqlError } from "effect/sql"
import type { PgClient } from "../client/PgClient.ts"
import { sqlError } from "../client/toSqlError.ts"
import { agentTable, removedRegistrationTable } from "../tables/AgentTable.ts"
import { keyTable } from "../tables/AgentKeyTable.ts"
import { auditSubjectTable, auditTable } from "../tables/AuditTable.ts"
import { checkTable } from "../tables/CheckTable.ts"
import { expectationTable } from "../tables/ExpectationTable.ts"
import { deleteHistoryOfChecks, insertHistory } from "../tables/HistoryTable.ts"
import {
  cutTimelines,
  incidentLogTable,
  incidentChangeTable,
  incidentTable,
  memberTable,
} from "../tables/IncidentTable.ts"
import { columnArrays, type RowStatement, type Table } from "../tables/makeTable.ts"
import { serviceHeartbeatTable } from "../tables/ServiceHeartbeatTable.ts"
import { operatorTable } from "../tables/OperatorTable.ts"
import { silenceTable } from "../tables/SilenceTable.ts"
import { replicaTable } from "../tables/ReplicaTable.ts"
import { alertTable } from "../tables/AlertTable.ts"
import { outboxTable } from "../tables/OutboxTable.ts"

/**
 * A transaction's id and the run of the server that gave it: enough to ask later whether it
 * committed.
 */
export interface TransactionRef {
  readonly transaction_id: bigint
  readonly server_run: string
}

/**
 * How a row that counts as new is written: over an existing one, or as one that must not exist yet.
 * The latter costs an index less, and fails if the row exists.
 */
export type NewRows = "upserted" | "inserted"

/**
 * Writes what a transaction changed, with one statement for each table and kind of change, always
 * in the same order. Returns a reference to the transaction, or `undefined` if there was nothing to
 * write.
 */
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

/** A statement with its rows, of which it takes the columns that it names. */
interface Write {
  readonly statement: RowStatement
  readonly rows: ReadonlyArray<object>
  /** Whether it must write each of these rows once, or may write any number. */
  readonly writes: "each" | "any"
}

/** In the order in which every transaction runs them. */
const writesOf = (changes: UnitOfWorkChanges, newRows: NewRows): ReadonlyArray<Write> => {
  const { alerts, incidents, members } = changes
  const newIncidents = new Set(
    incidents.flatMap(({ before, after }) => (before === undefined ? after?.id : [])),
  )
  // A check may rejoin an incident that it left; a new incident has no members yet.
  const isFirst = ({ after }: Change<MemberRecord>) =>
    newRows === "inserted" && after !== undefined && newIncidents.has(after.incident_id)
  return [
    ...rowWrites(agentTable, changes.agents, "inserted"),
    each(removedRegistrationTable.insert, changes.removedAgents),
    ...rowWrites(keyTable, changes.keys, "inserted"),
    ...rowWrites(checkTable, changes.checks, newRows),
    ...rowWrites(expectationTable, changes.expectations, newRows),
    // One transaction may resolve an incident and then open another of its key; only one may be
    // open.
    ...rowWrites(incidentTable, incidents, newRows),
    ...rowWrites(memberTable, members.filter(isFirst), "inserted"),
    ...rowWrites(
      memberTable,
      members.filter((member) => !isFirst(member)),
      "upserted",
    ),
    each(incidentChangeTable.insert, changes.incidentChanges),
    each(incidentLogTable.insert, changes.incidentLog),
    { statement: cutTimelines, rows: changes.timelineCuts, writes: "any" },
    ...rowWrites(outboxTable, changes.outbox, newRows),
    ...rowWrites(alertTable, alerts, "upserted"),
    ...rowWrites(serviceHeartbeatTable, changes.serviceHeartbeats, "inserted"),
    ...rowWrites(operatorTable, changes.operators, "inserted"),
    ...rowWrites(replicaTable, changes.replicas, "inserted"),
    each(auditTable.insert, changes.audit),
    each(auditSubjectTable.insert, subjectRowsOf(changes.audit)),
    ...rowWrites(silenceTable, changes.silences, "inserted"),
    // A check that was removed may have been reported again since.
    { statement: deleteHistoryOfChecks, rows: changes.removedChecks, writes: "any" },
    each(insertHistory, changes.history),
  ]
}

const each = (statement: RowStatement, rows: ReadonlyArray<object>): Write => ({
  statement,
  rows,
  writes: "each",
})

/** The writes of one table: deletions, then updates, then new rows. */
const rowWrites = <Row extends object>(
  table: Pick<Table<Row>, "delete" | "update" | "insert" | "upsert">,
  changes: ReadonlyArray<Change<Row>>,
  newRows: NewRows,
): ReadonlyArray<Write> => {
  const inserted: Array<Row> = []
  const updated: Array<Row> = []
  const deleted: Array<Row> = []
  for (const { before, after } of changes) {
    if (after !== undefined) (before === undefined ? inserted : updated).push(after)
    else if (before !== undefined) deleted.push(before)
  }
  return [
    each(table.delete, deleted),
    each(table.update, updated),
    each(newRows === "inserted" ? table.insert : table.upsert, inserted),
  ]
}
