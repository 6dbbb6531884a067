import { forNames, type KeyedName, keyedNames } from "@tocsin/core/model/keyedTables"
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
import { makeEstablishedTable } from "./EstablishedTable.ts"
import { type KeyedTable, makeKeyedTable } from "./makeKeyedTable.ts"
import { makeOperatorTable } from "./OperatorTable.ts"
import { makeOutboxTable } from "./OutboxTable.ts"
import { makePolicyVersionTable } from "./PolicyVersionTable.ts"
import { makeSilenceTable } from "./SilenceTable.ts"

/** The prepared statements of every table, over one connection. */
export const makeTables = (connection: SqliteConnection) => {
  // These have more than rows by key and by group.
  const searched = {
    agent_key: makeAgentKeyTable(connection),
    expectation: makeExpectationTable(connection),
    incident_member: makeMemberTable(connection),
    outbox: makeOutboxTable(connection),
    alert: makeAlertTable(connection),
    operator: makeOperatorTable(connection),
    policy_version: makePolicyVersionTable(connection),
    silence: makeSilenceTable(connection),
  }
  const known: Partial<KeyedTables> = searched
  return {
    agents: makeAgentTable(connection),
    removedRegistrations: makeRemovedRegistrationTable(connection),
    checks: makeCheckTable(connection),
    history: makeHistoryTable(connection),
    incidents: makeIncidentTable(connection),
    incidentChanges: makeIncidentChangeTable(connection),
    incidentLog: makeIncidentLogTable(connection),
    audit: makeAuditTable(connection),
    established: makeEstablishedTable(connection),
    ...searched,
    /** All tables that are requested by key or by group. */
    keyed: forNames<KeyedName, KeyedTables>(
      keyedNames,
      (name) => known[name] ?? makeKeyedTable(connection, name),
    ),
  }
}

type KeyedTables = { readonly [N in KeyedName]: KeyedTable<N> }

/** See {@link makeTables}. */
export type Tables = ReturnType<typeof makeTables>
