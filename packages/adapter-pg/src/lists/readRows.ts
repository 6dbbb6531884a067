import type { ListName, ListRows } from "@tocsin/core/lists/ListDefinitions"
import type { BlockedKeyRecord } from "@tocsin/core/admission/AgentKeyRecord"
import type { PageRequest } from "@tocsin/core/lists/PageRequest"
import { Effect } from "effect"
import type { SqlClient, SqlConnection, SqlError } from "effect/sql"
import { decodeAgent } from "../tables/agentTable.ts"
import { decodeKey } from "../tables/agentKeyTable.ts"
import { decodeCheck } from "../tables/checkTable.ts"
import { decodeHistory } from "../tables/historyTable.ts"
import { decodeIncident } from "../tables/incidentTable.ts"
import { decodeOutbox } from "../tables/outboxTable.ts"
import { pageStatement } from "./pageStatement.ts"

const decoders: { readonly [L in ListName]: (row: SqlConnection.Row) => ListRows[L] } = {
  agents: decodeAgent,
  checks: decodeCheck,
  history: decodeHistory,
  incidents: decodeIncident,
  outbox: decodeOutbox,
  // The list selects no others.
  blacklist: (row) => decodeKey(row) as BlockedKeyRecord,
}

/**
 * Reads one page of a list. Not prepared: a plan that is made for the very filter and limit finds the partial indexes, and
 * costs little beside what a person waits for.
 */
export const readRows = <L extends ListName>(
  sql: SqlClient.SqlClient,
  request: PageRequest<L>,
): Effect.Effect<ReadonlyArray<ListRows[L]>, SqlError.SqlError> => {
  const { text, values } = pageStatement(request)
  const decode: (row: SqlConnection.Row) => ListRows[L] = decoders[request.list]
  return Effect.map(sql.unsafe<SqlConnection.Row>(text, values).unprepared, (rows) => rows.map(decode))
}
