import { Effect } from "effect"

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
