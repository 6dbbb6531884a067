import { storedTables } from "@tocsin/core/ports/StoredTables"
import type { PgStatement } from "../client/PgConnection.ts"
import { makeTable } from "./makeTable.ts"

/** Named operators. */
export const operatorTable = makeTable(storedTables.operator, { alias: "p", insertOrder: ["name"] })

/** Reads the operator whose token, or former token, has this hash. */
export const findOperatorOfToken: PgStatement = {
  name: "find_operator_of_token",
  text: `SELECT ${operatorTable.columns} FROM operator AS p WHERE p.token_hash = $1 OR p.former_token_hash = $1`,
}

/** Locks operators in the order of their names. */
export const lockOperators: PgStatement = {
  name: "lock_operators",
  text: `SELECT ${operatorTable.columns} FROM operator AS p WHERE p.name = ANY($1) ORDER BY p.name FOR UPDATE`,
}
