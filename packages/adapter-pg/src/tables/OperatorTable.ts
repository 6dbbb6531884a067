import { keyedTables } from "./keyedTables.ts"

/** Named operators. */
export const operatorTable = keyedTables.operator

/** Reads the operator whose token, or former token, has this hash. */
export const findOperatorOfToken = `SELECT ${operatorTable.columns} FROM operator AS p WHERE p.token_hash = $1 OR p.former_token_hash = $1`
