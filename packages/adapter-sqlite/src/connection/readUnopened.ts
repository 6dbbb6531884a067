import { verifyOpened } from "../log/verifyOpened.ts"
import { verifySchema } from "../migrations/migrate.ts"
import { SqliteConnection } from "./SqliteConnection.ts"

/** The facts about a database that may be opened. */
interface Unopened {
  /** The number of migrations it went through; `undefined` without a database. */
  readonly applied: number | undefined
  /** Whether a log with acknowledged changes whose sync failed is not there any more. */
  readonly isLogGone: boolean
}

/** Reads from a database, without writing to it, if its log and schema let it be opened; throws otherwise. */
export const readUnopened = <A>(
  file: string,
  read: (connection: SqliteConnection, found: Unopened) => A,
): A => {
  const connection = SqliteConnection.openReadOnly(file)
  try {
    connection.probe()
    const isLogGone = verifyOpened(connection)
    return read(connection, { applied: verifySchema(connection), isLogGone })
  } finally {
    connection.close()
  }
}
