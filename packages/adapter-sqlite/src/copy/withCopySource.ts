import type { StorageError } from "@tocsin/core/ports/Storage"
import { Effect } from "effect"
import type { CopySource } from "@tocsin/core/ports/Copy"
import { CopyConnection, first } from "./CopyConnection.ts"

/** Opens a database file for reading as it is now, and closes it after `use`. Its log grows while that takes. */
export const withCopySource = <A, E, R>(
  file: string,
  use: (source: CopySource) => Effect.Effect<A, E, R>,
): Effect.Effect<A, E | StorageError, R> =>
  Effect.scoped(
    Effect.gen(function* () {
      const connection = yield* CopyConnection.open(file, { readOnly: true })
      // What is read first fixes the moment.
      yield* connection.use((database) => {
        database.exec("BEGIN")
        first(database, "SELECT 1 FROM sqlite_schema")
      })
      return yield* use({
        count: (table) => connection.count(table.name),
        rows: (table) => connection.rows(table),
        lastSeq: connection.use((database) => {
          const [seq = 0n] = first(database, "SELECT seq FROM sqlite_sequence WHERE name = 'check_event'")
          // The column has integers only, read as bigint.
          return seq as bigint
        }),
      })
    }),
  ) as Effect.Effect<A, E | StorageError, R>
