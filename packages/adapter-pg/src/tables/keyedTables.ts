import {
  type CountedName,
  endColumns,
  storedTables,
  forNames,
  type KeyedName,
  keyedNames,
  keyedShape,
} from "@tocsin/core/model/StoredTables"
import { SECRET_MARK } from "@tocsin/core/model/SecretRecord"
import type { AnyShape } from "@tocsin/core/model/TableShape"
import { ADVISORY_LOCKS } from "../Database.ts"
import { makeTable, SQL_TYPES } from "./makeTable.ts"

/** A statement that finds rows by names, and how it is given these. */
export interface Finding {
  readonly text: string
  readonly parameters: (names: ReadonlyArray<unknown>) => ReadonlyArray<unknown>
}

/** The names of tables in searches written by hand; `r` for all others. */
const ALIASES: { readonly [N in KeyedName]?: string } = {
  agent_key: "k",
  alert: "l",
  expectation: "x",
  incident_member: "m",
  operator: "p",
  outbox: "o",
  silence: "q",
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
  const { alias } = table
  const select = `SELECT ${table.columns} FROM`
  const finding = (columns: ReadonlyArray<string>, condition: string, lock: string): Finding => {
    const [first, another] = columns
    const end = `${condition} ${lock}`
    if (another !== undefined) {
      const types = columns.map((column) => `${column} ${SQL_TYPES[shape.columns[column]?.type ?? "text"]}`)
      const isWanted = columns.map((column) => `${alias}.${column} = wanted.${column}`)
      return {
        text: `${select} json_to_recordset($1) AS wanted (${types.join(", ")})
          JOIN ${name} AS ${alias} ON ${isWanted.join(" AND ")} ${end}`,
        parameters: (names) => [JSON.stringify(names, [...columns])],
      }
    }
    return first === undefined
      ? { text: `${select} ${name} AS ${alias} ${end}`, parameters: () => [] }
      : {
          text: `${select} ${name} AS ${alias} WHERE ${alias}.${first} = ANY($1) ${end}`,
          parameters: (names) => [names],
        }
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

export const operatorTable = keyedTables.operator

export const findOperatorOfToken = `SELECT ${operatorTable.columns} FROM operator AS p WHERE p.token_hash = $1 OR p.former_token_hash = $1`

export const policyVersionTable = keyedTables.policy_version

const { alias, columns } = policyVersionTable

export const findPolicyVersions = `SELECT ${columns} FROM policy_version AS ${alias}
  WHERE ${alias}.version > $1 AND ${alias}.version <= $2 ORDER BY ${alias}.version DESC LIMIT $3`

/** Reads how the ciphertexts of some secrets begin. */
export const findSecretMarks = `SELECT name, left(ciphertext, ${SECRET_MARK}) AS mark FROM receiver_secrets
  WHERE name = ANY($1)`

export const silenceTable = keyedTables.silence

/** Reads the silences that have begun by `$1` and end after `$2`. */
export const findSilencesInForce = `SELECT ${silenceTable.columns} FROM silence AS q WHERE q.starts_at <= $1 AND q.ends_at > $2 ORDER BY q.id`

/** Serialises counts of silences until the transaction ends. */
export const lockSilenceCount = `SELECT pg_advisory_xact_lock(${ADVISORY_LOCKS.silenceCount}) AS locked`

export const findUnendedSilences = `SELECT ${silenceTable.columns} FROM silence AS q WHERE q.ends_at > $1`

export const rotaOverrideTable = keyedTables.rota_override

export const findOverridesEndingAfter = `SELECT ${rotaOverrideTable.columns} FROM rota_override AS ${rotaOverrideTable.alias} WHERE ${rotaOverrideTable.alias}.ends_at > $1`

/** Counts the rows of a table that end after `$1`. */
export const countUnended = (table: CountedName): string =>
  `SELECT count(*)::int AS count FROM ${table} WHERE ${endColumns[table]} > $1`

export const auditTable = makeTable(storedTables.audit, { alias: "u" })

export const auditSubjectTable = makeTable(storedTables.audit_subject, { alias: "s" })
