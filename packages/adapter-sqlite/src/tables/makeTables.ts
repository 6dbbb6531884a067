import {
  type CountedName,
  countedNames,
  endColumn,
  type EvaluatedName,
  evaluatedNames,
  forNames,
  type KeyedName,
  keyedNames,
  type EstablishedName,
  storedTables,
} from "@tocsin/core/lists/StoredTables"
import type { SqliteConnection } from "../connection/SqliteConnection.ts"
import { makeAgentKeyTable, makeAgentTable } from "./AgentTable.ts"
import { makeAlertTable, makeOutboxTable } from "./OutboxTable.ts"
import {
  makeCheckTable,
  makeDueRows,
  makeHistoryTable,
  makeCheckLabelTable,
  makeLastResult,
} from "./CheckTable.ts"
import {
  makeIncidentLogTable,
  makeIncidentChangeTable,
  makeIncidentTable,
  makeMemberTable,
} from "./IncidentTable.ts"
import { type KeyedTable, makeKeyedTable, makeTable } from "./makeTable.ts"
import type { KeyHash } from "@tocsin/contract/formats/Identifiers"
import type { Instant } from "@tocsin/contract/formats/Instant"
import { type AuditRecord, subjectRowsOf } from "@tocsin/core/heart/model/AuditRecord"

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

/** A table whose statements are written by hand. */
const withMore = <T, More>(table: T, more: (table: T) => More): T & More => ({ ...table, ...more(table) })

export const makeTables = (connection: SqliteConnection) => {
  // These have more than rows by key and by group.
  const searched = {
    agent_key: makeAgentKeyTable(connection),
    check_label: makeCheckLabelTable(connection),
    incident_member: makeMemberTable(connection),
    outbox: makeOutboxTable(connection),
    alert: makeAlertTable(connection),
    operator: withMore(makeKeyedTable(connection, "operator"), ({ one }) => ({
      ofToken: one<[KeyHash]>("WHERE token_hash = ?1 OR former_token_hash = ?1"),
    })),
    policy_version: withMore(makeKeyedTable(connection, "policy_version"), ({ all }) => ({
      newest: all<[after: number, upTo: number, limit: number]>(
        "WHERE version > ? AND version <= ? ORDER BY version DESC LIMIT ?",
      ),
    })),
    rota_override: withMore(makeKeyedTable(connection, "rota_override"), ({ all }) => ({
      endingAfter: all<[moment: Instant]>("WHERE ends_at > ?"),
    })),
    silence: withMore(makeKeyedTable(connection, "silence"), ({ all }) => ({
      /** The silences that have begun by the first moment, and end after the second. */
      inForce: all<[begunBy: Instant, endingAfter: Instant]>("WHERE starts_at <= ? AND ends_at > ?"),
      unended: all<[now: Instant]>("WHERE ends_at > ?"),
    })),
  }
  const known: Partial<KeyedTables> = searched
  return {
    agents: makeAgentTable(connection),
    removedRegistrations: makeTable(connection, storedTables.removed_registration),
    checks: makeCheckTable(connection),
    history: makeHistoryTable(connection),
    lastResult: makeLastResult(connection),
    incidents: makeIncidentTable(connection),
    incidentChanges: makeIncidentChangeTable(connection),
    incidentLog: makeIncidentLogTable(connection),
    audit: makeAuditTable(connection),
    established: withMore(makeTable(connection, storedTables.established), ({ one }) => ({
      find: one<[EstablishedName]>("WHERE name = ?"),
    })),
    ...searched,
    unended: forNames<CountedName, Record<CountedName, (now: Instant) => number>>(countedNames, (name) => {
      const count = connection.query<[bigint]>(`SELECT count(*) FROM ${name} WHERE ${endColumn(name)} > ?`)
      return (now: Instant) => Number(count.get(now)?.[0] ?? 0)
    }),
    dueRows: forNames<EvaluatedName, DueRows>(evaluatedNames, (name) => makeDueRows(connection, name)),
    /** All tables that are requested by key or by group. */
    keyed: forNames<KeyedName, KeyedTables>(
      keyedNames,
      (name) => known[name] ?? makeKeyedTable(connection, name),
    ),
  }
}

type DueRows = { readonly [N in EvaluatedName]: ReturnType<typeof makeDueRows<N>> }
type KeyedTables = { readonly [N in KeyedName]: KeyedTable<N> }

export type Tables = ReturnType<typeof makeTables>
