import type { AgentKeyRecord } from "./AgentRecord.ts"
import { storedTables } from "./StoredTables.ts"
import type { AnyShape, KeyedShape, Locking, TableShape } from "./TableShape.ts"

type Shapes = typeof storedTables

/** The tables whose rows commands request by key or by group: see {@link KeyedShape}. */
export type KeyedName = {
  [N in keyof Shapes]: Shapes[N] extends { readonly locks: Locking } ? N : never
}[keyof Shapes]

type Columns = ReadonlyArray<string>
/** A value for one column, an object for several. */
type Named<Row, Names extends Columns> = Names extends readonly [infer Name extends keyof Row]
  ? Row[Name]
  : Pick<Row, Names[number] & keyof Row>

/** The record of each table. */
export type KeyedRows = {
  [N in KeyedName]: N extends "agent_key"
    ? AgentKeyRecord
    : Shapes[N] extends KeyedShape<infer Row, infer _, infer __>
      ? Row
      : never
}
/** The key of each table. */
export type Keys = {
  [N in KeyedName]: Shapes[N] extends KeyedShape<infer Row, infer Key, infer _> ? Named<Row, Key> : never
}
/** The name of a group of each table: `all` where all rows are one group. */
export type Groups = {
  [N in KeyedName]: Shapes[N] extends KeyedShape<infer Row, infer _, infer Group>
    ? Group extends readonly []
      ? "all"
      : Named<Row, Group>
    : never
}

export const isKeyed = (name: keyof Shapes): name is KeyedName => "locks" in storedTables[name]

/** In the order in which transactions lock their rows. */
export const keyedNames = (Object.keys(storedTables) as ReadonlyArray<keyof Shapes>).filter(isKeyed)

/** The declaration of a table. */
export const keyedShape = <N extends KeyedName>(name: N) =>
  // TypeScript does not relate the declaration to its own row.
  storedTables[name] as unknown as TableShape<KeyedRows[N]> & AnyShape

/** A value for each name; `make` must return the one of the given name. */
export const forNames = <N extends string, Made extends { readonly [Name in N]: unknown }>(
  names: ReadonlyArray<N>,
  make: <Name extends N>(name: Name) => unknown,
): Made =>
  // TypeScript cannot relate values to names.
  Object.fromEntries(names.map((name) => [name, make(name)])) as Made

/** Slashes join names, since no column of a key contains one. */
const nameBy = (columns: Columns, named: unknown): string => {
  if (typeof named !== "object") return String(named)
  let name = ""
  for (const column of columns) {
    const part = String((named as Readonly<Record<string, unknown>>)[column])
    name = name === "" ? part : `${name}/${part}`
  }
  return name
}

/** The key of a row or of a request, as one text. */
export const keyText = <N extends KeyedName>(name: N, key: Keys[N] | KeyedRows[N]): string =>
  nameBy(keyedShape(name).key, key)

/** A group of a table, as one text. */
export const groupText = <N extends KeyedName>(name: N, group: Groups[N] | KeyedRows[N]): string =>
  nameBy(keyedShape(name).group ?? [], group) || "all"

/** The key of a row. */
export const keyOf = <N extends KeyedName>(name: N, row: KeyedRows[N]): Keys[N] => {
  const { key } = keyedShape(name)
  // The columns are those of the key; a row has them all.
  return (key.length > 1 ? row : row[key[0] as keyof KeyedRows[N]]) as unknown as Keys[N]
}
