import type { ListName, ListRows, PageRequest } from "@tocsin/core/engine/lists/ListDefinitions"
import type { BlockedKeyRecord } from "@tocsin/core/admission/AgentRecord"
import { Effect } from "effect"
import type { SqlClient, SqlConnection, SqlError } from "effect/sql"
import { read } from "../reads/read.ts"
import { decodeAgent } from "../tables/AgentTable.ts"
import { decodeKey } from "../tables/AgentKeyTable.ts"
import { decodeCheck } from "../tables/CheckTable.ts"
import { decodeHistory } from "../tables/HistoryTable.ts"
import { decodeIncident } from "../tables/IncidentTable.ts"
import { decodeOutbox } from "../tables/OutboxTable.ts"
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

/** Reads one page of a list; see `Storage.page`. */
export const readRows = <L extends ListName>(
  sql: SqlClient.SqlClient,
  request: PageRequest<L>,
): Effect.Effect<ReadonlyArray<ListRows[L]>, SqlError.SqlError> => {
  const statement = pageStatement(request)
  const decode: (row: SqlConnection.Row) => ListRows[L] = decoders[request.list]
  return Effect.map(read(sql, statement, statement.values), (rows) => rows.map(decode))
}
