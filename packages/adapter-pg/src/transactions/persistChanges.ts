import type { Change } from "@tocsin/core/workspace/Table"
import type { WorkspaceChanges } from "@tocsin/core/workspace/Workspace"
import { Effect } from "effect"
import type { SqlError } from "effect/sql"
import type { PgClient } from "../client/PgClient.ts"
import type { PgStatement } from "../client/PgConnection.ts"
import { sqlError } from "../client/toSqlError.ts"
import * as agents from "../tables/agentTable.ts"
import * as keys from "../tables/agentKeyTable.ts"
import * as checks from "../tables/checkTable.ts"
import { encodeHistory, insertHistory } from "../tables/historyTable.ts"
import * as incidents from "../tables/incidentTable.ts"
import { encodeMember, upsertMembers } from "../tables/memberTable.ts"
import * as outbox from "../tables/outboxTable.ts"

/** Which transaction wrote, and in which run of the server: enough to ask afterwards whether it committed. */
export interface TransactionMark {
  readonly transaction_id: bigint
  readonly server_run: string | null
}

/** One statement with its rows, as objects of JSON values. */
interface Write {
  readonly statement: PgStatement
  readonly rows: ReadonlyArray<object>
}

/**
 * Writes what a transaction changed: a statement a table and kind of change, always in this order. Returns the
 * transaction's mark, `undefined` where nothing was to be written.
 */
export const persistChanges = Effect.fnUntraced(function* (
  pg: PgClient["Service"],
  changes: WorkspaceChanges,
): Effect.fn.Return<TransactionMark | undefined, SqlError.SqlError> {
  let mark: TransactionMark | undefined
  for (const write of writesOf(changes)) {
    if (write.rows.length > 0) mark = yield* execute(pg, write)
  }
  return mark
})

const execute = Effect.fnUntraced(function* (pg: PgClient["Service"], { statement, rows }: Write) {
  const [told] = yield* pg.query(statement, [JSON.stringify(rows)])
  // A row that is not as it was loaded was not locked well enough: better decided again than half written.
  if (told?.["written"] !== rows.length) {
    return yield* sqlError("SerializationError", {
      message: `${statement.name} wrote ${String(told?.["written"])} of ${rows.length} rows`,
      operation: "execute",
    })
  }
  // What every write statement tells; see tableStatements.
  return told as unknown as TransactionMark
})

const writesOf = (changes: WorkspaceChanges): ReadonlyArray<Write> => {
  const agent = sorted(changes.agents)
  const key = sorted(changes.keys)
  const check = sorted(changes.checks)
  const incident = sorted(changes.incidents)
  const item = sorted(changes.outbox)
  const memberships = changes.members.flatMap(({ after }) => after ?? [])
  const removed = changes.removedAgents.map(({ agent_id, registration_id }) => ({
    agent_id,
    registration_id,
  }))
  return [
    { statement: agents.deleteAgents, rows: agent.deleted.map(({ agent_id }) => ({ agent_id })) },
    { statement: agents.updateAgents, rows: agent.updated.map(agents.encodeAgent) },
    { statement: agents.insertAgents, rows: agent.inserted.map(agents.encodeAgent) },
    { statement: agents.insertRemovedRegistrations, rows: removed },
    { statement: keys.deleteKeys, rows: key.deleted.map(({ key_hash }) => ({ key_hash })) },
    { statement: keys.updateKeys, rows: key.updated.map(keys.encodeKey) },
    { statement: keys.insertKeys, rows: key.inserted.map(keys.encodeKey) },
    { statement: checks.updateChecks, rows: check.updated.map(checks.encodeCheck) },
    { statement: checks.upsertChecks, rows: check.inserted.map(checks.encodeCheck) },
    // One transaction may resolve an incident and open another of the same key, of which only one may be open.
    { statement: incidents.updateIncidents, rows: incident.updated.map(incidents.encodeIncident) },
    { statement: incidents.upsertIncidents, rows: incident.inserted.map(incidents.encodeIncident) },
    { statement: upsertMembers, rows: memberships.map(encodeMember) },
    { statement: outbox.updateOutbox, rows: item.updated.map(outbox.encodeOutbox) },
    { statement: outbox.upsertOutbox, rows: item.inserted.map(outbox.encodeOutbox) },
    { statement: insertHistory, rows: changes.history.map(encodeHistory) },
  ]
}

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
