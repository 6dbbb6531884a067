import { type AuditRecord, subjectRowsOf } from "@tocsin/core/model/AuditRecord"
import { storedTables } from "@tocsin/core/model/StoredTables"
import type { SqliteConnection } from "../connection/SqliteConnection.ts"
import { makeTable } from "./makeTable.ts"

/** Tables `audit` and `audit_subject`: rows, and their subjects for the filter. */
export const makeAuditTable = (connection: SqliteConnection) => {
  const rows = makeTable(connection, storedTables.audit)
  const subjects = makeTable(connection, storedTables.audit_subject)
  return {
    add: (added: ReadonlyArray<AuditRecord>): void => {
      rows.insert(added)
      subjects.insert(subjectRowsOf(added))
    },
  }
}
