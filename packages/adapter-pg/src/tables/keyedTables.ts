import {
  type CountedName,
  endColumn,
  storedTables,
  forNames,
  type KeyedName,
  keyedNames,
  type KeyedRows,
  keyedShape,
} from "@tocsin/core/lists/StoredTables"
import type { AnyShape } from "@tocsin/core/kernel/model/TableShape"
import { ADVISORY_LOCKS } from "../Database.ts"
import { makeTable, type Reading, SQL_TYPES } from "./makeTable.ts"

/** A statement that finds rows by names, and how it is given these. */
export interface Finding<Row> extends Reading<Row> {
  readonly parameters: (names: ReadonlyArray<unknown>) => ReadonlyArray<unknown>
}

/** The names of tables in searches written by hand; `r` for all others. */
const ALIASES: { readonly [N in KeyedName]?: string } = {
  agent_key: "k",
  alert: "l",
  incident_member: "m",
  outbox: "o",
}

/**
 * Derives a table from its declaration, with the statements that find its rows by key and by group, with and
 * without their locks. It locks rows and inserts them in the order of their keys.
 */
const makeKeyedTable = <N extends KeyedName>(name: N) => {
  const shape = keyedShape(name)
  const { group = [], groupedWithout, key, locks = "rows" }: AnyShape = shape
  const table = makeTable(shape, {
    alias: ALIASES[name] ?? "r",
    ...(locks !== "guarded" && { insertOrder: shape.key }),
  })
  const { alias, decode, select } = table
  const finding = (
    columns: ReadonlyArray<string>,
    condition: string,
    lock: string,
  ): Finding<KeyedRows[N]> => {
    const [first, another] = columns
    const end = `${condition} ${lock}`
    if (another !== undefined) {
      const types = columns.map((column) => `${column} ${SQL_TYPES[shape.columns[column]?.type ?? "text"]}`)
      const isWanted = columns.map((column) => `${alias}.${column} = wanted.${column}`)
      return {
        decode,
        text: `SELECT ${table.columns} FROM json_to_recordset($1) AS wanted (${types.join(", ")})
          JOIN ${name} AS ${alias} ON ${isWanted.join(" AND ")} ${end}`,
        parameters: (names) => [JSON.stringify(names, [...columns])],
      }
    }
    return first === undefined
      ? { ...select(end), parameters: () => [] }
      : { ...select(`WHERE ${alias}.${first} = ANY($1) ${end}`), parameters: (names) => [names] }
  }
  const inOrder =
    locks === "guarded"
      ? ""
      : `ORDER BY ${key.map((column) => `${alias}.${column}`).join(", ")} FOR UPDATE OF ${alias}`
  const ofGroups = groupedWithout === undefined ? "" : `AND ${alias}.${groupedWithout} IS NULL`
  return {
    ...table,
    locks,
    find: finding(key, "", ""),
    findGroups: finding(group, ofGroups, ""),
    lock: finding(key, "", inOrder),
    lockGroups: finding(group, ofGroups, inOrder),
  }
}

export const keyedTables = forNames<
  KeyedName,
  { readonly [N in KeyedName]: ReturnType<typeof makeKeyedTable<N>> }
>(keyedNames, makeKeyedTable)

/** Serialises requests for a group until the transaction ends: its first row is one that none can lock. */
export const lockGroup = `SELECT pg_advisory_xact_lock(${ADVISORY_LOCKS.groups}, hashtext($1)) AS locked`

export const findOperatorOfToken = keyedTables.operator.select(
  "WHERE r.token_hash = $1 OR r.former_token_hash = $1",
)

export const findPolicyVersions = keyedTables.policy_version.select(
  "WHERE r.version > $1 AND r.version <= $2 ORDER BY r.version DESC LIMIT $3",
)

/** Reads the silences that have begun by `$1` and end after `$2`. */
export const findSilencesInForce = keyedTables.silence.select(
  "WHERE r.starts_at <= $1 AND r.ends_at > $2 ORDER BY r.id",
)

export const lockSilenceCount = `SELECT pg_advisory_xact_lock(${ADVISORY_LOCKS.silenceCount}) AS locked`

export const findUnendedSilences = keyedTables.silence.select("WHERE r.ends_at > $1")

export const findOverridesEndingAfter = keyedTables.rota_override.select("WHERE r.ends_at > $1")

export const countUnended = (table: CountedName): string =>
  `SELECT count(*)::int AS count FROM ${table} WHERE ${endColumn(table)} > $1`

export const auditTable = makeTable(storedTables.audit, { alias: "u" })

export const auditSubjectTable = makeTable(storedTables.audit_subject, { alias: "s" })
