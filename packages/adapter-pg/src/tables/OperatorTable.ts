import { storedTables } from "@tocsin/core/model/StoredTables"
import { makeTable } from "./makeTable.ts"

/** Named operators. */
export const operatorTable = makeTable(storedTables.operator, { alias: "p", insertOrder: ["name"] })

/** Reads the operator whose token, or former token, has this hash. */
export const findOperatorOfToken = `SELECT ${operatorTable.columns} FROM operator AS p WHERE p.token_hash = $1 OR p.former_token_hash = $1`

/** Locks operators in the order of their names. */
export const lockOperators = `SELECT ${operatorTable.columns} FROM operator AS p WHERE p.name = ANY($1) ORDER BY p.name FOR UPDATE`
