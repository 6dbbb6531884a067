import { hash } from "node:crypto"
import type { Instant } from "@tocsin/contract/Instant"
import {
  type AppliedMigration,
  compareSchema,
  type Migration,
  schemaRefusal,
} from "@tocsin/core/ports/Migration"
import { StorageError } from "@tocsin/core/ports/Storage"
import type { SqliteConnection } from "../connection/SqliteConnection.ts"
import { migration as initial } from "./0001_initial.ts"
import { migration as runningTotals } from "./0002_running_totals.ts"
import { migration as keptHistory } from "./0003_kept_history.ts"
import { migration as receivers } from "./0004_receivers.ts"
import { migration as operators } from "./0005_operators.ts"
import { migration as acknowledgements } from "./0006_acknowledgements.ts"
import { migration as timers } from "./0007_timers.ts"
import { migration as expectations } from "./0008_expectations.ts"
import { migration as acknowledgedIncidents } from "./0009_acknowledged_incidents.ts"
import { migration as audit } from "./0010_audit.ts"
import { migration as silences } from "./0011_silences.ts"
import { migration as replicas } from "./0012_replicas.ts"
import { migration as signedMarks } from "./0013_signed_marks.ts"
import { migration as receiverAlerts } from "./0014_receiver_alerts.ts"
import { migration as resolvedBy } from "./0015_resolved_by.ts"
import { migration as pendingAgents } from "./0016_pending_agents.ts"
import { migration as listedRows } from "./0017_listed_rows.ts"

/** Every step from an empty database to the present schema; append-only. */
export const migrations: ReadonlyArray<Migration> = [
  initial,
  runningTotals,
  keptHistory,
  receivers,
  operators,
  acknowledgements,
  timers,
  expectations,
  acknowledgedIncidents,
  audit,
  silences,
  replicas,
  signedMarks,
  receiverAlerts,
  resolvedBy,
  pendingAgents,
  listedRows,
]

/** Identifies the very form of a migration: SHA-256 of its statements. */
export const checksumOf = ({ sql }: Migration): string => hash("sha256", sql)

const CREATE_LEDGER = `CREATE TABLE schema_migration (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  checksum TEXT NOT NULL,
  applied_at INTEGER NOT NULL
) STRICT`

/** The migrations that a database went through; `undefined` if it has no tables. */
const readLedger = (connection: SqliteConnection): ReadonlyArray<AppliedMigration> | undefined => {
  const tables = connection.query<[name: string]>("SELECT name FROM sqlite_schema WHERE type = 'table'").all()
  if (tables.length === 0) return undefined
  if (tables.some(([name]) => name === "schema_migration")) {
    return connection
      .query<[id: bigint, checksum: string]>("SELECT id, checksum FROM schema_migration ORDER BY id")
      .all()
      .map(([id, checksum]) => ({ id: Number(id), checksum }))
  }
  throw new StorageError({
    reason: "other",
    message: `${connection.file} is another program's SQLite database: choose another file for Tocsin`,
  })
}

/**
 * How many migrations a database went through; `undefined` if it has no tables. Writes nothing. Throws
 * a StorageError for a database that is newer than this code, that went through another form of a
 * migration, or that belongs to another program.
 */
export const verifySchema = (
  connection: SqliteConnection,
  known: ReadonlyArray<Migration> = migrations,
): number | undefined => {
  const ledger = readLedger(connection)
  if (ledger === undefined) return undefined
  const standing = compareSchema(ledger, known, checksumOf)
  const refusal = schemaRefusal(standing, connection.file)
  if (refusal !== undefined) throw refusal
  return standing.applied
}

/**
 * Migrates a database to the present schema, in one transaction. A process that starts at the same
 * time waits for the lock, and then finds nothing left to do. An up-to-date database is only read.
 */
export const migrate = (
  connection: SqliteConnection,
  now: Instant,
  known: ReadonlyArray<Migration> = migrations,
): void => {
  if (verifySchema(connection, known) === known.length) return
  connection.transaction(() => {
    const applied = verifySchema(connection, known)
    if (applied === undefined) connection.execute(CREATE_LEDGER)
    const note = connection.query(
      "INSERT INTO schema_migration (id, name, checksum, applied_at) VALUES (?, ?, ?, ?)",
    )
    for (const migration of known.slice(applied ?? 0)) {
      connection.execute(migration.sql)
      note.run(migration.id, migration.name, checksumOf(migration), now)
    }
  })
}
