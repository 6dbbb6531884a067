import type { AgentKeyRecord, AgentRecord } from "@tocsin/core/model/AgentRecord"
import { storedTables } from "@tocsin/core/model/StoredTables"
import type { AnyShape, TableShape } from "@tocsin/core/model/TableShape"

type Shapes = Omit<typeof storedTables, "agent_key" | "audit_subject" | "removed_registration">

/** The kinds of row in a store: those of the tables, and the sequence. */
export type Rows = {
  readonly [Kind in keyof Shapes]: Shapes[Kind] extends TableShape<infer Row> ? Row : never
} & {
  readonly agent_key: AgentKeyRecord
  readonly removed_registration: AgentRecord
  /** The number of the newest row of the history, which may itself be gone. */
  readonly sequence: { readonly seq: number }
}
export type RowKind = keyof Rows

const shapes: Readonly<Record<RowKind, AnyShape>> = {
  ...storedTables,
  sequence: { name: "sequence", key: [], columns: {} },
}

/** The key of the only row that no table has. */
export const SEQUENCE = "sequence/check_event"

/** The key of a row: its kind, and its key there. No part of a key contains a slash. */
export const rowKey = (kind: RowKind, row: object): string =>
  // Records have the columns of their table.
  [kind, ...shapes[kind].key.map((column) => (row as Readonly<Record<string, unknown>>)[column])].join("/")

// Values without a form in JSON. No record has a field, and no label a key, with this first
// character.
const MARK = "$"

/**
 * A record as JSON: instants are bigint, and a field that is undefined differs from an absent one.
 */
export const writeRow = (row: unknown): string =>
  // `value` has passed through toJSON, which programs define for bigint; only the holder is
  // original.
  JSON.stringify(row, function (this: Readonly<Record<string, unknown>>, name) {
    const value = this[name]
    if (typeof value === "bigint") return { [MARK]: value.toString() }
    return value === undefined ? { [MARK]: null } : value
  })

/** Reads an entry. Throws if it is not one of ours. */
export const readRow = (key: string, text: string): { readonly kind: RowKind; readonly row: unknown } => {
  const kind = key.slice(0, key.indexOf("/"))
  if (!isRowKind(kind)) throw new Error(`the store holds ${key.slice(0, 64)}, which is no row of Tocsin's`)
  const row = restore(JSON.parse(text))
  const fields = Object(row)
  for (const [name, { type }] of Object.entries(shapes[kind].columns)) {
    if (type !== "instant" || fields[name] === undefined || typeof fields[name] === "bigint") continue
    throw new Error(
      `${name} of the row ${key} is not a time; it was written by an older version in a program that defines BigInt.prototype.toJSON, so restore a copy of the store from before, or start with an empty one`,
    )
  }
  if (kind === "outbox" && !Object.hasOwn(fields, "receiver"))
    throw new Error(`the row ${key} was written by Tocsin 0.1.0: start with an empty store`)
  return { kind, row }
}

const isRowKind = (name: string): name is RowKind => Object.hasOwn(shapes, name) && name !== "audit_subject"

// Not JSON.parse's reviver, which deletes a field that becomes undefined.
const restore = (value: unknown): unknown => {
  if (typeof value !== "object" || value === null) return value
  if (Array.isArray(value)) return value.map(restore)
  const entries = Object.entries(value)
  const [first] = entries
  if (first?.[0] === MARK) return typeof first[1] === "string" ? BigInt(first[1]) : undefined
  return Object.fromEntries(entries.map(([name, field]) => [name, restore(field)]))
}
