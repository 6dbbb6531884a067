import { Effect } from "effect"

/**
 * One step of a storage's schema. A released one is never changed: databases remember their checksums, and a test of each
 * storage compares the schema, the checksums and the compatibilities with the committed ones.
 */
export interface Migration {
  /** Its place in the order, from 1 without gaps; the number in its file's name. */
  readonly id: number
  readonly name: string
  /**
   * `compatible`: servers of the previous version may keep running on the migrated database, and nothing that they write is
   * wrong. `breaking`: stop them first.
   */
  readonly compatibility: "compatible" | "breaking"
  /** Its statements, run in one transaction with those of all other migrations that are missing. */
  readonly sql: string
}

/** Says in the log, before a database that is in use is migrated, what that asks of its other servers. */
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
