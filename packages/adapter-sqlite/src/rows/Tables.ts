import type { SqliteConnection } from "../connection/SqliteConnection.ts"
import { makeAgentKeyRows } from "./AgentKeyRows.ts"
import { makeAgentRows } from "./AgentRows.ts"
import { makeAlertRows } from "./AlertRows.ts"
import { makeCheckRows } from "./CheckRows.ts"
import { makeEstablishedRows } from "./EstablishedRows.ts"
import { makeHistoryRows } from "./HistoryRows.ts"
import { makeIncidentChangeRows } from "./IncidentChangeRows.ts"
import { makeIncidentRows } from "./IncidentRows.ts"
import { makeMarkRows } from "./MarkRows.ts"
import { makeMemberRows } from "./MemberRows.ts"
import { makeOutboxRows } from "./OutboxRows.ts"
import { makeRemovedRegistrationRows } from "./RemovedRegistrationRows.ts"
import { makeRetentionRows } from "./RetentionRows.ts"
import { makeSystemTotalRows } from "./SystemTotalRows.ts"

/** The prepared statements of every table, over one connection. */
export const makeTables = (connection: SqliteConnection) => ({
  agents: makeAgentRows(connection),
  keys: makeAgentKeyRows(connection),
  checks: makeCheckRows(connection),
  history: makeHistoryRows(connection),
  incidents: makeIncidentRows(connection),
  incidentChanges: makeIncidentChangeRows(connection),
  members: makeMemberRows(connection),
  outbox: makeOutboxRows(connection),
  alerts: makeAlertRows(connection),
  marks: makeMarkRows(connection),
  established: makeEstablishedRows(connection),
  removedRegistrations: makeRemovedRegistrationRows(connection),
  retention: makeRetentionRows(connection),
  totals: makeSystemTotalRows(connection),
})

/** See {@link makeTables}. */
export type Tables = ReturnType<typeof makeTables>
