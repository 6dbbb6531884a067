import { existsSync } from "node:fs"
import process from "node:process"
import * as PgInspection from "@tocsin/adapter-pg/inspection/inspectStorage"
import * as PgSource from "@tocsin/adapter-pg/copy/withCopySource"
import * as PgTarget from "@tocsin/adapter-pg/copy/withCopyTarget"
import * as SqliteInspection from "@tocsin/adapter-sqlite/inspection/inspectStorage"
import * as SqliteSource from "@tocsin/adapter-sqlite/copy/withCopySource"
import * as SqliteTarget from "@tocsin/adapter-sqlite/copy/withCopyTarget"
import type { Instant } from "@tocsin/core/contract/Instant"
import type { CopySource, CopyTarget } from "@tocsin/core/ports/Copy"
import type { StorageError } from "@tocsin/core/ports/Storage"
import { Effect, Redacted } from "effect"
import { usageFailure } from "../CommandFailure.ts"
import { copiedTables } from "./copiedTables.ts"

/** How a storage is. */
export interface PlaceState {
  /** How many migrations it went through, of how many. */
  readonly applied: number
  readonly known: number
  /** When a server last gave a sign of life on it, by its own clock. */
  readonly markedAt: Instant | undefined
}

/** A storage that can be copied from or into. */
export interface Place {
  /** How it is shown: no address, which may hold a password. */
  readonly name: string
  /** What it tells of itself; fails for what cannot be opened. */
  readonly state: Effect.Effect<PlaceState, StorageError>
  readonly withSource: <A, E>(
    use: (source: CopySource) => Effect.Effect<A, E>,
  ) => Effect.Effect<A, E | StorageError>
  readonly withTarget: <A, E>(
    use: (target: CopyTarget) => Effect.Effect<A, E>,
  ) => Effect.Effect<A, E | StorageError>
}

/** The embedded database in a file. */
export const sqlitePlace = (file: string): Place => ({
  name: `SQLite in ${file}`,
  state: existsSync(file)
    ? Effect.map(SqliteInspection.inspectStorage(file), ({ applied = 0, known, markedAt }) => ({
        applied,
        known,
        markedAt,
      }))
    : Effect.succeed({ applied: 0, known: 0, markedAt: undefined }),
  withSource: (use) => SqliteSource.withCopySource(file, use),
  withTarget: (use) => SqliteTarget.withCopyTarget(file, use),
})

/** A PostgreSQL database. */
export const postgresPlace = (url: Redacted.Redacted): Place => ({
  name: "PostgreSQL",
  state: PgInspection.inspectStorage({ url }),
  withSource: (use) => PgSource.withCopySource(url, use),
  withTarget: (use) => PgTarget.withCopyTarget({ url, tables: copiedTables }, use),
})

const FORMS =
  "sqlite:FILE, a URL that begins with postgres://, or env:NAME to read one of these from the environment variable NAME"

/** Reads the address of a storage, as `flag` was given it. It is not repeated, for it may hold a password. */
export const placeOf = Effect.fnUntraced(function* (flag: string, given: string) {
  const variable = /^env:(\w+)$/.exec(given)?.[1]
  const address = variable === undefined ? given : (process.env[variable] ?? "")
  const file = /^sqlite:(?:\/\/(?=\/))?(.+)$/.exec(address)?.[1]
  if (file !== undefined) return sqlitePlace(file)
  if (/^postgres(ql)?:\/\/./.test(address) && URL.canParse(address))
    return postgresPlace(Redacted.make(address))
  return yield* usageFailure(`${flag} takes ${FORMS}`)
})
