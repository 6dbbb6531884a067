import type { SqliteConnection } from "../connection/SqliteConnection.ts"
import { makeAgentKeyTable, makeAgentTable, makeRemovedRegistrationTable } from "./AgentTable.ts"
import { makeAlertTable, makeOutboxTable } from "./OutboxTable.ts"
import { makeCheckTable, makeHistoryTable, makeExpectationTable } from "./CheckTable.ts"
import {
  makeIncidentLogTable,
  makeIncidentChangeTable,
  makeIncidentTable,
  makeMemberTable,
} from "./IncidentTable.ts"
import { type KeyedTable, makeKeyedTable } from "./makeKeyedTable.ts"
import type { KeyHash } from "@tocsin/contract/Identifiers"
import type { Instant } from "@tocsin/contract/Instant"
import { type AuditRecord, subjectRowsOf } from "@tocsin/core/model/AuditRecord"
import {
  type EstablishedName,
  forNames,
  type KeyedName,
  keyedNames,
  storedTables,
} from "@tocsin/core/model/StoredTables"
import { makeTable } from "./makeTable.ts"

/** Table `established`: values that the first writer sets. */
const makeEstablishedTable = (connection: SqliteConnection) => {
  const insert = connection.query(
    "INSERT INTO established (name, value) VALUES (?, ?) ON CONFLICT DO NOTHING",
  )
  const byName = connection.query<[value: string]>("SELECT value FROM established WHERE name = ?")
  return {
    /** Stores a value unless one is stored, and returns the stored one. */
    establish: (name: EstablishedName, value: string): string => {
      insert.run(name, value)
      return byName.get(name)?.[0] ?? value
    },
  }
}

/** Tables `audit` and `audit_subject`: rows, and their subjects for the filter. */
const makeAuditTable = (connection: SqliteConnection) => {
  const rows = makeTable(connection, storedTables.audit)
  const subjects = makeTable(connection, storedTables.audit_subject)
  return {
    add: (added: ReadonlyArray<AuditRecord>): void => {
      rows.insert(added)
      subjects.insert(subjectRowsOf(added))
    },
  }
}

/** Table `silence`. */
const makeSilenceTable = (connection: SqliteConnection) => {
  const table = makeKeyedTable(connection, "silence")
  return {
    ...table,
    /** The silences that have begun by the first moment, and end after the second. */
    inForce: table.all<[now: Instant, endingAfter: Instant]>("WHERE starts_at <= ? AND ends_at > ?"),
    unended: table.all<[now: Instant]>("WHERE ends_at > ?"),
  }
}

/** Table `policy_version`: policies that were applied. */
const makePolicyVersionTable = (connection: SqliteConnection) => {
  const table = makeKeyedTable(connection, "policy_version")
  return {
    ...table,
    after: table.all<[version: number, limit: number]>("WHERE version > ? ORDER BY version DESC LIMIT ?"),
  }
}

/** Table `operator`: named operators. */
const makeOperatorTable = (connection: SqliteConnection) => {
  const table = makeKeyedTable(connection, "operator")
  const ofToken = table.one<[KeyHash, KeyHash]>("WHERE token_hash = ? OR former_token_hash = ?")
  return { ...table, ofToken: (hash: KeyHash) => ofToken(hash, hash) }
}

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
