/** Workarounds for defects of `@effect/sql-pg` 4.0.5 and `effect/sql` 4.1.0. Remove a part when it is fixed upstream. */
import { Buffer } from "node:buffer"
import * as PgTypes from "@effect/sql-pg/PgTypes"
import { type Context, Effect, Result } from "effect"
import { SqlClient, type SqlConnection, type SqlError } from "effect/sql"
import { type PgOperation, sqlError } from "./toSqlError.ts"

/** Type OIDs (pg_type.dat), which never change. */
const OID = { xid: 28, xid8: 5069 }

const view = (bytes: Uint8Array): DataView => new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)

const readOnly = <A>(decode: (bytes: Uint8Array) => A): PgTypes.Codec<A> => ({
  decode: (bytes) => Result.succeed(decode(bytes)),
  encode: () => Result.fail(new PgTypes.CodecError({ message: "Pass the digits as text" })),
})

let seen: Uint8Array | undefined
let seenAsBuffer: Buffer = Buffer.alloc(0)

/** Reads texts, many of which are parts of the same bytes. */
const textIn = (bytes: Uint8Array, offset: number, size: number): string => {
  if (bytes !== seen) {
    seen = bytes
    seenAsBuffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  }
  return seenAsBuffer.toString("utf8", offset, offset + size)
}

/** Defect 4: the driver drops a leading U+FEFF from a text that also contains U+FFFD. */
const text: PgTypes.Codec<string> = {
  ...readOnly((bytes) => textIn(bytes, 0, bytes.byteLength)),
  read: (bytes, offset, size) => Result.succeed(textIn(bytes, offset, size)),
}

/**
 * Defect 1: the driver reads the binary form of a type without a codec as UTF-8. These are codecs
 * for the ones that we read: `xid` as number, `xid8` as bigint.
 */
export const makeTypes = (): PgTypes.Registry => {
  const types = PgTypes.makeRegistry()
  types.register(PgTypes.OID.text, text)
  types.register(
    OID.xid,
    readOnly((bytes) => view(bytes).getUint32(0)),
  )
  types.register(
    OID.xid8,
    readOnly((bytes) => view(bytes).getBigUint64(0)),
  )
  return types
}

const SPECIAL = /["\\]/
const EVERY_SPECIAL = /["\\]/g

/** A text as an element of an array literal. */
export const quoted = (value: string): string =>
  `"${SPECIAL.test(value) ? value.replace(EVERY_SPECIAL, String.raw`\$&`) : value}"`

const elementOf = (value: unknown, path: string): string => {
  if (value === null) return "NULL"
  if (Array.isArray(value)) return arrayOf(value, path)
  return quoted(String(parameterOf(value, path)))
}

const arrayOf = (values: ReadonlyArray<unknown>, path: string): string => {
  let literal = ""
  for (let index = 0; index < values.length; index++) {
    const value = values[index]
    // Most are texts, which need no path: none is written for them.
    const element = typeof value === "string" ? quoted(value) : elementOf(value, `${path}[${index}]`)
    literal += index === 0 ? element : `,${element}`
  }
  return `{${literal}}`
}

const parameterOf = (value: unknown, path: string): unknown => {
  switch (typeof value) {
    case "string":
      return value
    case "undefined":
      throw new TypeError(`SQL parameter ${path} is undefined: pass null where NULL is meant`)
    case "number":
    case "bigint":
    case "boolean":
      return String(value)
    default:
      return Array.isArray(value) ? arrayOf(value, path) : value
  }
}

/**
 * Defect 2: the driver guesses the type of a parameter from its value: 1 and 2³¹ make two prepared statements, an
 * array of both fails, and `undefined` becomes NULL. We send text, which the server reads as the type that the
 * statement asks for. `undefined` is a defect whose message names its place (`$2[17]`).
 */
export const asTexts = (parameters: ReadonlyArray<unknown>): ReadonlyArray<unknown> => {
  const texts: Array<unknown> = []
  for (let index = 0; index < parameters.length; index++) {
    texts.push(parameterOf(parameters[index], `$${index + 1}`))
  }
  return texts
}

/** A connection that runs what begins and ends transactions, and returns the server's command tag. */
interface Controlled extends SqlConnection.Connection {
  readonly control: (text: string, operation: PgOperation) => Effect.Effect<string, SqlError.SqlError>
}

const savepoint = (depth: number) => `tocsin_${depth}`

/** PostgreSQL answers COMMIT of a failed transaction with ROLLBACK, and no error. */
const commit = Effect.fnUntraced(function* (connection: Controlled) {
  if ((yield* connection.control("COMMIT", "commit")) === "COMMIT") return
  return yield* sqlError("UnknownError", {
    message: "The transaction was rolled back: a statement in it had failed, and its error was caught",
    operation: "commit",
  })
})

/**
 * Defect 3: in the `withTransaction` of `SqlClient.make` a failed ROLLBACK or RELEASE hides the error before it.
 * Here it is ignored: the connection is closed, or the next statement fails. It also treats COMMIT like other
 * statements, although only an unanswered COMMIT has an unknown outcome.
 */
export const makeWithTransaction = <Connection extends Controlled>(
  transaction: Context.Service<
    SqlClient.TransactionConnection,
    readonly [connection: Connection, depth: number]
  >,
  acquireConnection: Parameters<
    typeof SqlClient.makeWithTransaction<SqlClient.TransactionConnection, Connection>
  >[0]["acquireConnection"],
  spanAttributes: ReadonlyArray<readonly [string, unknown]>,
) =>
  SqlClient.makeWithTransaction({
    transactionService: transaction,
    spanAttributes,
    acquireConnection,
    begin: (connection, statement) => Effect.asVoid(connection.control(statement ?? "BEGIN", "begin")),
    savepoint: (connection, depth) =>
      Effect.asVoid(connection.control(`SAVEPOINT ${savepoint(depth)}`, "begin")),
    releaseSavepoint: (connection, depth) =>
      Effect.ignore(connection.control(`RELEASE SAVEPOINT ${savepoint(depth)}`, "execute")),
    commit,
    rollback: (connection) => Effect.ignore(connection.control("ROLLBACK", "rollback")),
    rollbackSavepoint: (connection, depth) =>
      Effect.ignore(connection.control(`ROLLBACK TO SAVEPOINT ${savepoint(depth)}`, "rollback")),
  })
