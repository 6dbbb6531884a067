import type { AnyShape, Column, ColumnType, RecordOf } from "@tocsin/core/kernel/model/TableShape"
import * as fc from "fast-check"
import { count, instant, maybe, plain, uuid } from "./values.ts"

const part = fc.oneof(plain(40), fc.maxSafeNat(), fc.boolean(), fc.array(plain(9), { maxLength: 2 }))
const json = fc.dictionary(plain(9), part, { maxKeys: 3, noNullPrototype: true })

/** Values of each type of column. */
export const VALUES: Readonly<Record<ColumnType, fc.Arbitrary<unknown>>> = {
  text: plain(60),
  uuid,
  instant,
  integer: fc.integer({ min: -2_147_483_648, max: 2_147_483_647 }),
  long: fc.maxSafeInteger(),
  boolean: fc.boolean(),
  object: json,
  array: fc.array(json, { maxLength: 3 }),
  uuids: fc.array(uuid, { maxLength: 3 }),
  bytes: fc.uint8Array({ maxLength: 20 }),
}

/** Rows by the declaration of their columns, each with its own values or those of its type. */
export const drawnRow = (
  { columns }: Pick<AnyShape, "columns">,
  valuesOf: (name: string, column: Column) => fc.Arbitrary<unknown> | undefined,
) => {
  const drawn = Object.entries(columns).map(([name, column]) => {
    const { type, whenNull } = column
    return [
      name,
      valuesOf(name, column) ?? (whenNull === "undefined" ? maybe(VALUES[type]) : VALUES[type]),
    ] as const
  })
  const required = Object.keys(columns).filter((name) => columns[name]?.whenNull !== "absent")
  return fc.record(Object.fromEntries(drawn), { requiredKeys: required })
}

type Given<Row> = { readonly [Name in keyof Row]?: fc.Arbitrary<Row[Name]> }

/** Rows whose given columns have these values. Integers count something. */
export const drawn = <Shape extends Pick<AnyShape, "columns">>(shape: Shape, given: Given<RecordOf<Shape>>) =>
  drawnRow(
    shape,
    (name, { type }) => Reflect.get(given, name) ?? (type === "integer" ? count : undefined),
    // The columns are those of the record that is made of them.
  ) as unknown as fc.Arbitrary<RecordOf<Shape>>
