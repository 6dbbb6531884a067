import type { Change } from "@tocsin/core/kernel/unitOfWork/Table"
import {
  type AnyShape,
  type ColumnType,
  decoderOf,
  jsonReaders,
  type TableShape,
} from "@tocsin/core/kernel/model/TableShape"
import { type Groups, type KeyedName, keyedShape, type Keys } from "@tocsin/core/lists/StoredTables"
import type { SQLInputValue } from "node:sqlite"
import type { Query, SqliteConnection } from "../connection/SqliteConnection.ts"
import { isKeyTaken } from "../connection/SqliteFailures.ts"

/** The columns of a record, in the order in which {@link decoder} expects them. */
export const columnsOf = ({ columns }: AnyShape): ReadonlyArray<string> => Object.keys(columns)

/** The value of a JSON text, if it is one. JSON.parse makes own properties of all keys, `__proto__` too. */
const parse = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Reads rows of {@link columnsOf}: arrays, with integers as bigint. */
export const decoder = <Row>(shape: TableShape<Row>): ((row: object) => Row) =>
  decoderOf(
    shape,
    {
      integer: Number,
      long: Number,
      boolean: (value: bigint) => value === 1n,
      ...jsonReaders(parse),
    },
    (_, index) => index,
  )

/** How values of a type are stored, where not as they are. */
const WRITERS: { readonly [Type in ColumnType]?: (value: unknown) => SQLInputValue } = {
  boolean: Number,
  object: JSON.stringify,
  array: JSON.stringify,
  uuids: JSON.stringify,
}

interface WrittenColumn {
  readonly name: string
  readonly type: ColumnType
}

/** The text of code that gives the value of a column of a row as it is stored. */
const valueIn = (row: string, { name, type }: WrittenColumn): string => {
  const value = `${row}.${name}`
  const written = WRITERS[type] === undefined ? value : `writers.${type}(${value})`
  return `(${value} === undefined ? null : ${written})`
}

/** Makes the function of values of a row, compiled of its shape as {@link decoderOf} is, and as much faster than a loop. */
const valuesIn = <Row extends object>(
  columns: ReadonlyArray<WrittenColumn>,
): ((row: Row) => ReadonlyArray<SQLInputValue>) =>
  // The columns are those of Row. One of a type without a writer holds a text, a number or a bigint.
  new Function("writers", `return (row) => [${columns.map((column) => valueIn("row", column)).join(", ")}]`)(
    WRITERS,
  ) as (row: Row) => ReadonlyArray<SQLInputValue>

export const makeTable = <Row extends object>(connection: SqliteConnection, shape: TableShape<Row>) => {
  const select = `SELECT ${columnsOf(shape).join(", ")} FROM ${shape.name}`
  const decode = decoder(shape)
  const writes = makeWrites<Row>(connection, shape)
  return {
    /** Prepares a query for one row; `rest` follows the name of the table. */
    one: <P extends ReadonlyArray<SQLInputValue>>(rest: string) => {
      const query = connection.query<object>(`${select} ${rest}`)
      return (...given: P): Row | undefined => {
        const row = query.get(...given)
        return row && decode(row)
      }
    },
    /** Prepares a query for any number of rows. */
    all: <P extends ReadonlyArray<SQLInputValue>>(rest: string) => {
      const query = connection.query<object>(`${select} ${rest}`)
      return (...given: P): ReadonlyArray<Row> => query.all(...given).map(decode)
    },
    ...writes,
  }
}

export type Table<Row extends object> = ReturnType<typeof makeTable<Row>>

const partsOf = <Row extends object>({ name, columns, key, numbered }: AnyShape) => {
  const all = Object.entries(columns).map(([column, { type }]): WrittenColumn => ({ name: column, type }))
  const written = all.filter((column) => column.name !== numbered)
  const keys = all.filter((column) => key.includes(column.name))
  return {
    name,
    others: written.filter((column) => !key.includes(column.name)),
    isKey: `WHERE ${keys.map((column) => `${column.name} = ?`).join(" AND ")}`,
    keyOf: valuesIn<Row>(keys),
    into: `${name} (${written.map((column) => column.name).join(", ")})`,
    places: `(${written.map(() => "?").join(", ")})`,
    valuesOf: valuesIn<Row>(written),
  }
}
type Parts<Row extends object> = ReturnType<typeof partsOf<Row>>

const makeWrites = <Row extends object>(connection: SqliteConnection, shape: AnyShape) => {
  const parts = partsOf<Row>(shape)
  const { name, others, isKey, keyOf, valuesOf } = parts
  const assignments = others.map((column) => `${column.name} = excluded.${column.name}`).join(", ")
  // A row that is its key and no more cannot differ from one of that key.
  const onConflict = assignments === "" ? "DO NOTHING" : `DO UPDATE SET ${assignments}`
  const upsert = connection.query(
    `INSERT INTO ${parts.into} VALUES ${parts.places}
    ON CONFLICT (${shape.key.join(", ")}) ${onConflict}`,
  )
  const remove = connection.query(`DELETE FROM ${name} ${isKey}`)
  const update = makeUpdate(connection, parts)
  const insert = makeInsert(connection, parts)
  const write = ({ before, after }: Change<Row>): void => {
    if (after !== undefined) {
      if (before === undefined) upsert.get(...valuesOf(after))
      else update(before, after)
    } else if (before !== undefined) remove.get(...keyOf(before))
  }
  return {
    /** Inserts, updates or deletes a row. A new row overwrites one of its key. */
    write,
    /** Does the same for many rows, new ones last. */
    writeAll: (changes: ReadonlyArray<Change<Row>>): void => {
      const added: Array<Row> = []
      for (const change of changes) {
        if (change.before === undefined && change.after !== undefined) added.push(change.after)
        else write(change)
      }
      insert(added, (piece) => {
        for (const after of piece) write({ before: undefined, after })
      })
    },
    /** Inserts rows of new keys, in their order. */
    insert: (rows: ReadonlyArray<Row>): void => insert(rows),
  }
}

/**
 * An index is written when a statement names a column of it, so an update names only changed columns. OR FAIL: as
 * with {@link makeInsert}.
 */
const makeUpdate = <Row extends object>(
  connection: SqliteConnection,
  { name, others, isKey, keyOf }: Parts<Row>,
) => {
  const follow = (changed: Changed, index: number): Changed => {
    const next: Changed = { columns: [...changed.columns, index], next: [], update: undefined }
    changed.next[index] = next
    return next
  }
  const updateOf = ({ columns }: Changed): Query<never> => {
    const set = columns.map((index) => `${others[index]?.name} = ?`).join(", ")
    return connection.query(`UPDATE OR FAIL ${name} SET ${set} ${isKey}`)
  }
  const unchanged: Changed = { columns: [], next: [], update: undefined }
  const changesOf = changesIn<Row>(others)
  return (before: Row, after: Row): void => {
    const values: Array<SQLInputValue> = []
    const changed = changesOf(before, after, { follow, unchanged, values })
    if (changed !== unchanged) (changed.update ??= updateOf(changed)).get(...values, ...keyOf(after))
  }
}

/** The columns that an update names, and those that name further ones: a statement is found without a text of them. */
interface Changed {
  readonly columns: ReadonlyArray<number>
  readonly next: Array<Changed>
  update: Query<never> | undefined
}

interface Comparing {
  readonly unchanged: Changed
  readonly follow: (changed: Changed, index: number) => Changed
  /** Gets the values that changed. */
  readonly values: Array<SQLInputValue>
}

/** Makes the function that finds what changed, compiled as {@link valuesIn} is. */
const changesIn = <Row extends object>(
  columns: ReadonlyArray<WrittenColumn>,
): ((before: Row, after: Row, comparing: Comparing) => Changed) => {
  const looks = columns.map(
    (column, index) => `if (before.${column.name} !== after.${column.name}) {
      changed = changed.next[${index}] ?? follow(changed, ${index})
      values.push(${valueIn("after", column)})
    }`,
  )
  const code = `return (before, after, { follow, unchanged, values }) => {
    let changed = unchanged
    ${looks.join("\n")}
    return changed
  }`
  // The columns are those of Row.
  return new Function("writers", code)(WRITERS) as (before: Row, after: Row, comparing: Comparing) => Changed
}

/** Rows that one statement inserts: it opens the table and its indexes once for all of them. */
const AT_ONCE = 10

/** Inserts rows in their order. `replace` writes rows of which one exists; without it that is an error. */
const makeInsert = <Row extends object>(
  connection: SqliteConnection,
  { into, places, valuesOf }: Parts<Row>,
) => {
  // OR FAIL: otherwise SQLite copies each page that the statement changes, to undo that statement
  // alone. This storage undoes whole transactions.
  const insertion = (rows: number): Query<never> =>
    connection.query(
      `INSERT OR FAIL INTO ${into} VALUES ${Array.from({ length: rows }, () => places).join(", ")}`,
    )
  const insertOne = insertion(1)
  const insertSome = insertion(AT_ONCE)
  return (rows: ReadonlyArray<Row>, replace?: (rows: ReadonlyArray<Row>) => void): void => {
    const run = (statement: Query<never>, piece: ReadonlyArray<Row>): void => {
      try {
        statement.get(...piece.flatMap(valuesOf))
      } catch (cause) {
        if (replace === undefined || !isKeyTaken(cause)) throw cause
        replace(piece)
      }
    }
    const alone = rows.length - (rows.length % AT_ONCE)
    for (let from = 0; from < alone; from += AT_ONCE) run(insertSome, rows.slice(from, from + AT_ONCE))
    for (const row of rows.slice(alone)) run(insertOne, [row])
  }
}

/** Prepares a table as it is declared, with its rows by key and, where it has groups, by group. `indexedBy` names the index of its groups where SQLite might choose another. */
export const makeKeyedTable = <N extends KeyedName>(
  connection: SqliteConnection,
  name: N,
  indexedBy = "",
) => {
  const shape = keyedShape(name)
  const { group, groupedWithout, key } = shape
  const isGrouped = groupedWithout === undefined ? "TRUE" : `${groupedWithout} IS NULL`
  const table = makeTable(connection, shape)
  const byKey = table.one<ReadonlyArray<SQLInputValue>>(`WHERE ${areGiven(key)}`)
  const byGroup =
    group && table.all<ReadonlyArray<SQLInputValue>>(`${indexedBy} WHERE ${areGiven(group)} AND ${isGrouped}`)
  return {
    ...table,
    find: (named: Keys[N]) => byKey(...valuesOf(key, named)),
    ofGroup: (named: Groups[N]) => byGroup?.(...valuesOf(group ?? [], named)) ?? [],
  }
}

export type KeyedTable<N extends KeyedName> = ReturnType<typeof makeKeyedTable<N>>

const areGiven = (columns: ReadonlyArray<string>): string =>
  columns.map((column) => `${column} = ?`).join(" AND ") || "TRUE"

/** A name is the value of its only column, or has several by name; columns of keys hold texts and numbers. */
const valuesOf = (columns: ReadonlyArray<string>, named: unknown): ReadonlyArray<SQLInputValue> =>
  columns.length === 1 && typeof named !== "object"
    ? [named as SQLInputValue]
    : columns.map((column) => (named as Readonly<Record<string, SQLInputValue>>)[column] ?? null)
