import { Effect } from "effect"
import { StorageError } from "./Storage.ts"

/**
 * One step of a storage's schema. Never edit a released one: databases remember its checksum, and
 * tests compare it with the committed one.
 */
export interface Migration {
  /** Its place in the order, from 1 without gaps; the number in its file's name. */
  readonly id: number
  readonly name: string
  /**
   * `compatible`: servers of the previous version may keep running on the migrated database, and
   * write nothing wrong. `breaking`: stop them first.
   */
  readonly compatibility: "compatible" | "breaking"
  /** Its statements, run in one transaction with all other missing migrations. */
  readonly sql: string
}

/** A migration that a database went through, as the database recorded it. */
export interface AppliedMigration {
  readonly id: number
  /** SHA-256 of its statements. */
  readonly checksum: string
}

/**
 * How the schema of a database compares with the migrations that this code knows. `foreign`: it
 * went through another form of a migration. `applied` counts those that are the same.
 */
export type SchemaStanding =
  | { readonly state: "behind" | "current" | "newer"; readonly applied: number }
  | { readonly state: "foreign"; readonly applied: number; readonly migration: Migration }

export const compareSchema = (
  applied: ReadonlyArray<AppliedMigration>,
  known: ReadonlyArray<Migration>,
  checksumOf: (migration: Migration) => string,
): SchemaStanding => {
  for (const [index, { id, checksum }] of applied.entries()) {
    const migration = known[index]
    if (migration?.id !== id) return { state: "newer", applied: applied.length }
    if (checksum !== checksumOf(migration)) return { state: "foreign", applied: index, migration }
  }
  return { state: applied.length < known.length ? "behind" : "current", applied: applied.length }
}

/** Why a database must not be opened; `undefined` if it may. `database` is its name for people. */
export const schemaRefusal = (standing: SchemaStanding, database: string): StorageError | undefined => {
  if (standing.state === "newer") {
    return new StorageError({
      reason: "newer",
      message: `${database} was written by a newer version of Tocsin: start that version or a later one, or restore the backup from before its upgrade`,
    })
  }
  if (standing.state !== "foreign") return undefined
  if (standing.applied === 0) {
    return new StorageError({
      reason: "other",
      message: `${database} was written by Tocsin 0.1.0, which this version cannot read: start with an empty database`,
    })
  }
  const { id, name } = standing.migration
  return new StorageError({
    reason: "other",
    message: `${database} has a different version of migration ${id} (${name}): start the build of Tocsin that created it, or restore a backup`,
  })
}

/** Logs, before a database in use is migrated, what to do with its other servers. */
export const announceMigrations = (missing: ReadonlyArray<Migration>): Effect.Effect<void> => {
  const namesOf = (some: ReadonlyArray<Migration>) => some.map(({ id, name }) => `${id} ${name}`).join(", ")
  const breaking = missing.filter(({ compatibility }) => compatibility === "breaking")
  if (missing.length === 0) return Effect.void
  return breaking.length === 0
    ? Effect.logInfo(
        `the database is migrated (${namesOf(missing)}); servers of the previous version may keep running`,
      )
    : Effect.logWarning(
        `the database is migrated (${namesOf(breaking)}), and servers of the previous version fail on it: stop the other servers first`,
      )
}
