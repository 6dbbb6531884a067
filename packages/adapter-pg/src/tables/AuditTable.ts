import { storedTables } from "@tocsin/core/model/StoredTables"
import { makeTable } from "./makeTable.ts"

/** Changes that someone made. */
export const auditTable = makeTable(storedTables.audit, { alias: "u" })

/** Their subjects, for the filter. */
export const auditSubjectTable = makeTable(storedTables.audit_subject, { alias: "s" })
