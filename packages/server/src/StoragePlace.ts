import { existsSync } from "node:fs"
import process from "node:process"
import * as PgCopy from "@tocsin/adapter-pg/copy/copyConnection"
import * as PgInspection from "@tocsin/adapter-pg/inspection/inspectStorage"
import * as SqliteCopy from "@tocsin/adapter-sqlite/copy/CopyConnection"
import { realFile } from "@tocsin/adapter-sqlite/connection/FileIdentity"
import * as SqliteInspection from "@tocsin/adapter-sqlite/inspection/inspectStorage"
import type { Instant } from "@tocsin/contract/Instant"
import type { CopySource, CopyTarget } from "@tocsin/core/ports/Copy"
import type { StorageError } from "@tocsin/core/ports/Storage"
import { Effect, type Redacted } from "effect"
import { CommandFailure, usageFailure } from "./CommandFailure.ts"
import type { Settings } from "./settings/Settings.ts"
import { database } from "./settings/settingTypes.ts"
import { databaseFile } from "./storage.ts"

/** The state of a storage. */
export interface PlaceState {
  /** How many migrations it went through, of how many. */
  readonly applied: number
  readonly known: number
  /** A server's last service heartbeat on it, by that server's clock. */
  readonly serviceHeartbeatAt: Instant | undefined
}

/** A durable storage, inspected and copied without starting a server on it. */
export interface StoragePlace {
  /** Its name for people, without an address, which may hold a password. */
  readonly name: string
  /** Fails if it cannot be opened. */
  readonly state: Effect.Effect<PlaceState, StorageError>
  readonly withSource: <A, E>(
    use: (source: CopySource) => Effect.Effect<A, E>,
  ) => Effect.Effect<A, E | StorageError>
  readonly withTarget: <A, E>(
    use: (target: CopyTarget) => Effect.Effect<A, E>,
  ) => Effect.Effect<A, E | StorageError>
}

const sqlitePlace = (file: string): StoragePlace => ({
  name: `SQLite in ${file}`,
  state: Effect.flatMap(realFile(file), (found): StoragePlace["state"] =>
    existsSync(found)
      ? Effect.map(SqliteInspection.inspectStorage(found), ({ applied = 0, ...rest }) => ({
          applied,
          ...rest,
        }))
      : Effect.succeed({ applied: 0, known: 0, serviceHeartbeatAt: undefined }),
  ),
  withSource: (use) => SqliteCopy.withCopySource(file, use),
  withTarget: (use) => SqliteCopy.withCopyTarget(file, use),
})

const postgresPlace = (url: Redacted.Redacted): StoragePlace => ({
  name: "PostgreSQL",
  state: PgInspection.inspectStorage({ url }),
  withSource: (use) => PgCopy.withCopySource(url, use),
  withTarget: (use) => PgCopy.withCopyTarget(url, use),
})

/** The storage of the settings; nothing for memory, which no other process can open. */
export const placeOfSettings = (
  settings: Pick<Settings, "DATABASE_URL" | "SERVICE_DATA_DIR">,
): StoragePlace | undefined => {
  if (settings.DATABASE_URL === undefined) return sqlitePlace(databaseFile(settings))
  return settings.DATABASE_URL.kind === "postgres" ? postgresPlace(settings.DATABASE_URL.url) : undefined
}

const FORMS =
  "sqlite:FILE, postgres://user:password@host:port/database with special characters percent-encoded, or env:NAME to read one of these from the environment variable NAME"

/** Reads the value of `flag`. Its messages omit the address, which may hold a password. */
export const placeOfFlag = Effect.fnUntraced(function* (flag: string, given: string) {
  const variable = /^env:(\w+)$/.exec(given)?.[1]
  const address = variable === undefined ? given : (process.env[variable] ?? "")
  if (variable !== undefined && address === "")
    return yield* usageFailure(`${flag} names a variable that is not set: export ${variable}`)
  const file = /^sqlite:(?:\/\/(?=\/))?(.+)$/.exec(address)?.[1]
  if (file !== undefined) return sqlitePlace(file)
  const found = database.parse(address)
  if (found?.kind === "postgres") return postgresPlace(found.url)
  return yield* usageFailure(`${flag} takes ${FORMS}`)
})

const unready = (message: string): CommandFailure => new CommandFailure({ exit: "storage", message })

/**
 * Requires the current schema. A command must neither migrate the storage of a running older server
 * nor create one in the wrong folder. Opening the storage refuses a newer or unknown schema.
 */
export const requireSchema = Effect.fnUntraced(function* (place: StoragePlace) {
  const state = yield* place.state
  if (state.applied === 0) {
    return yield* unready(
      `found no Tocsin data in ${place.name}: correct DATABASE_URL, SERVICE_DATA_DIR or --from, or create it with tocsin migrate`,
    )
  }
  if (state.applied < state.known) {
    return yield* unready(
      `${place.name} is at schema ${state.applied} of ${state.known}: run tocsin migrate, or start the server on it once`,
    )
  }
  return state
})
