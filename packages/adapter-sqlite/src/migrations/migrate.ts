import { hash } from "node:crypto"
import type { Instant } from "@tocsin/contract/formats/Instant"
import {
  type AppliedMigration,
  compareSchema,
  type Migration,
  schemaRefusal,
} from "@tocsin/core/kernel/ports/Migration"
import { StorageError } from "@tocsin/core/kernel/ports/Storage"
import type { SqliteConnection } from "../connection/SqliteConnection.ts"
import { migration as first } from "./0001_first.ts"
import { migration as acceptancesLeave } from "./0002_acceptances_leave.ts"
import { migration as separateTables } from "./0003_separate_tables.ts"
import { migration as mailRecipients } from "./0004_mail_recipients.ts"
import { migration as watchHeaders } from "./0005_watch_headers.ts"
import { migration as agentProcesses } from "./0006_agent_processes.ts"
import { migration as episodes } from "./0007_episodes.ts"
import { migration as resolvedIncidents } from "./0008_resolved_incidents.ts"
import { migration as lateChecks } from "./0009_late_checks.ts"
import { migration as browsers } from "./0010_browsers.ts"
import { migration as mails } from "./0011_mails.ts"
import { migration as resolutions } from "./0012_resolutions.ts"
import { migration as knownNames } from "./0013_known_names.ts"
import { migration as withdrawnChecks } from "./0014_withdrawn_checks.ts"
import { migration as titles } from "./0015_titles.ts"
import { migration as settings } from "./0016_settings.ts"
import { migration as places } from "./0017_places.ts"
import { migration as invitations } from "./0018_invitations.ts"
import { migration as moreTitles } from "./0019_more_titles.ts"
import { migration as monthlyReports } from "./0020_monthly_reports.ts"
import { migration as floodMinutes } from "./0021_flood_minutes.ts"
import { migration as sendingLeaves } from "./0022_sending_leaves.ts"

/** Every step from an empty database to the present schema; append-only. */
export const migrations: ReadonlyArray<Migration> = [
  first,
  acceptancesLeave,
  separateTables,
  mailRecipients,
  watchHeaders,
  agentProcesses,
  episodes,
  resolvedIncidents,
  lateChecks,
  browsers,
  mails,
  resolutions,
  knownNames,
  withdrawnChecks,
  titles,
  settings,
  places,
  invitations,
  moreTitles,
  monthlyReports,
  floodMinutes,
  sendingLeaves,
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

/** How many migrations it went through; `undefined` without tables. Throws for a newer or foreign one. */
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

/** Migrates in one transaction, for which a process that starts at the same time waits. */
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
