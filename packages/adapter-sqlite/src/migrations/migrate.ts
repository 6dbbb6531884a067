import type { Instant } from "@tocsin/core/contract/Instant"
import { StorageError } from "@tocsin/core/ports/Storage"
import type { Migration } from "@tocsin/core/ports/Migration"
import { checksumOf } from "./checksumOf.ts"
import { migration as initial } from "./0001_initial.ts"
import { migration as runningTotals } from "./0002_running_totals.ts"
import { migration as keptHistory } from "./0003_kept_history.ts"
import type { SqliteConnection } from "../connection/SqliteConnection.ts"

/** Every step from an empty database to the present schema; append-only. */
export const migrations: ReadonlyArray<Migration> = [initial, runningTotals, keptHistory]

type Applied = readonly [id: bigint, checksum: string]

const CREATE_LEDGER = `CREATE TABLE schema_migration (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  checksum TEXT NOT NULL,
  applied_at INTEGER NOT NULL
) STRICT`

/** Which migrations a database went through; `undefined` when it holds no tables at all. Fails for one of another program. */
const appliedTo = (connection: SqliteConnection): ReadonlyArray<Applied> | undefined => {
  const tables = connection.query<[name: string]>("SELECT name FROM sqlite_schema WHERE type = 'table'").all()
  if (tables.length === 0) return undefined
  if (tables.some(([name]) => name === "schema_migration")) {
    return connection.query<Applied>("SELECT id, checksum FROM schema_migration ORDER BY id").all()
  }
  throw new StorageError({
    reason: "other",
    message: `${connection.file} is another program's SQLite database: choose another file for Tocsin`,
  })
}

const newer = (file: string): StorageError =>
  new StorageError({
    reason: "newer",
    message: `${file} was written by a newer version of Tocsin: start that version or a later one, or restore the backup from before its upgrade`,
  })

const foreign = (file: string, { id, name }: Migration): StorageError =>
  new StorageError({
    reason: "other",
    message: `${file} has a different version of migration ${id} (${name}): start the build of Tocsin that created it, or restore a backup`,
  })

/**
 * How many of the migrations a database went through. Writes nothing. Throws a StorageError for a database that is newer
 * than this code, that went through another form of a migration, or that belongs to another program.
 */
export const verifySchema = (
  connection: SqliteConnection,
  known: ReadonlyArray<Migration> = migrations,
): number | undefined => {
  const applied = appliedTo(connection)
  if (applied === undefined) return undefined
  if (applied.length > known.length) throw newer(connection.file)
  for (const [index, [id, checksum]] of applied.entries()) {
    const migration = known[index]
    if (migration === undefined || id !== BigInt(migration.id)) throw newer(connection.file)
    if (checksum !== checksumOf(migration)) throw foreign(connection.file, migration)
  }
  return applied.length
}

/**
 * Brings a database to the present schema, in one transaction. A process that starts at the same moment waits for the
 * lock and then finds nothing left to do. A database that is up to date is only read.
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
