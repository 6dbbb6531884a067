import type { SqliteConnection } from "../connection/SqliteConnection.ts"
import { makeAgentKeyTable } from "./AgentKeyTable.ts"
import { makeAlertTable } from "./AlertTable.ts"
import { makeAgentTable, makeRemovedRegistrationTable } from "./AgentTable.ts"
import { makeAuditTable } from "./AuditTable.ts"
import { makeCheckTable } from "./CheckTable.ts"
import { makeExpectationTable } from "./ExpectationTable.ts"
import { makeHistoryTable } from "./HistoryTable.ts"
import {
  makeIncidentLogTable,
  makeIncidentChangeTable,
  makeIncidentTable,
  makeMemberTable,
} from "./IncidentTable.ts"
import { makeEstablishedTable, makeServiceHeartbeatTable } from "./ServiceHeartbeatTable.ts"
import { makeOperatorTable } from "./OperatorTable.ts"
import { makeReplicaTable } from "./ReplicaTable.ts"
import { makeOutboxTable } from "./OutboxTable.ts"
import { makeSilenceTable } from "./SilenceTable.ts"

/** The prepared statements of every table, over one connection. */
export const makeTables = (connection: SqliteConnection) => ({
  agents: makeAgentTable(connection),
  removedRegistrations: makeRemovedRegistrationTable(connection),
  keys: makeAgentKeyTable(connection),
  checks: makeCheckTable(connection),
  expectations: makeExpectationTable(connection),
  history: makeHistoryTable(connection),
  incidents: makeIncidentTable(connection),
  members: makeMemberTable(connection),
  incidentChanges: makeIncidentChangeTable(connection),
  incidentLog: makeIncidentLogTable(connection),
  outbox: makeOutboxTable(connection),
  alerts: makeAlertTable(connection),
  serviceHeartbeats: makeServiceHeartbeatTable(connection),
  operators: makeOperatorTable(connection),
  replicas: makeReplicaTable(connection),
  audit: makeAuditTable(connection),
  silences: makeSilenceTable(connection),
  established: makeEstablishedTable(connection),
})

/** See {@link makeTables}. */
export type Tables = ReturnType<typeof makeTables>
