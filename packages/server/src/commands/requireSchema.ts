import { existsSync } from "node:fs"
import * as PgInspection from "@tocsin/adapter-pg/inspection/inspectStorage"
import * as SqliteInspection from "@tocsin/adapter-sqlite/inspection/inspectStorage"
import type { StorageError } from "@tocsin/core/ports/Storage"
import { Effect } from "effect"
import { CommandFailure, usageFailure } from "../CommandFailure.ts"
import type { Settings } from "../settings/Settings.ts"
import { databaseFile } from "../storage.ts"

interface Schema {
  readonly place: string
  /** How many migrations it went through. */
  readonly applied: number
  readonly known: number
}

const NEXT = "start the server on it once, or run tocsin migrate"

const unready = (message: string): CommandFailure => new CommandFailure({ exit: "storage", message })

const inspect = Effect.fnUntraced(function* (
  settings: Settings,
): Effect.fn.Return<Schema, CommandFailure | StorageError> {
  if (settings.DATABASE_URL === undefined) {
    const place = databaseFile(settings)
    const { applied = 0, known } = existsSync(place)
      ? yield* SqliteInspection.inspectStorage(place)
      : { known: 0 }
    if (applied > 0) return { place, applied, known }
    return yield* unready(
      `found no Tocsin data in ${place}: ${NEXT}, or set SERVICE_DATA_DIR to the server's folder`,
    )
  }
  if (settings.DATABASE_URL.kind === "memory") {
    return yield* usageFailure(
      "with DATABASE_URL=memory: the data exists only in the server's process; use its API instead",
    )
  }
  const place = "the database of DATABASE_URL"
  const { schema, applied, known } = yield* PgInspection.inspectStorage({ url: settings.DATABASE_URL.url })
  if (schema === "absent") return yield* unready(`found no Tocsin data in ${place}: ${NEXT}`)
  return { place, applied, known }
})

/**
 * Sees that the storage is there and not behind this code: a command beside a running server of an older version must not
 * migrate what that one works on, and one in the wrong folder must not make a database there. What is newer than this
 * code, or another program's, is refused when it is opened.
 */
export const requireSchema = Effect.fnUntraced(function* (settings: Settings) {
  const { place: storage, applied, known } = yield* inspect(settings)
  if (applied < known) return yield* unready(`${storage} is at schema ${applied} of ${known}: ${NEXT}`)
})
