import type { StorageError } from "@tocsin/core/ports/Storage"
import { Effect } from "effect"
import type { CopySource } from "@tocsin/core/ports/Copy"
import { CopyConnection, first } from "./CopyConnection.ts"

/** Opens a snapshot of a database file for `use`. The file's log grows until `use` ends. */
export const withCopySource = <A, E, R>(
  file: string,
  use: (source: CopySource) => Effect.Effect<A, E, R>,
): Effect.Effect<A, E | StorageError, R> =>
  Effect.scoped(
    Effect.gen(function* () {
      const connection = yield* CopyConnection.open(file, { readOnly: true })
      // The first read fixes the moment of the snapshot.
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
