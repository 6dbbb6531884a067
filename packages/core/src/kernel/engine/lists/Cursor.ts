import type { SortColumn, SortValue } from "../../model/ListPlan.ts"
import type { ListName, ListQuery, Position } from "../../../lists/ListDefinitions.ts"
import { Result, Schema } from "effect"
import { decodeBase64Url, encodeBase64Url } from "../base64Url.ts"
import { ValidationError } from "@tocsin/contract/formats/Errors"
import { plainText } from "@tocsin/contract/formats/Text"

/** The direction of a cursor: `next_cursor` leads forward, `prev_cursor` backward. */
export type CursorSide = "next" | "prev"

const CursorContent = Schema.Tuple([
  Schema.String,
  Schema.Literals(["next", "prev"]),
  Schema.Boolean,
  Schema.Array(Schema.Union([Schema.String, Schema.Int])),
])
const decodeContent = Schema.decodeUnknownResult(Schema.fromJsonString(CursorContent))

const CHECKSUM_DIGITS = 16

const toWire = (value: SortValue): string | number => (typeof value === "bigint" ? value.toString() : value)

/** Ties a cursor to its query and content, so that a foreign or changed one is refused. */
const checksum = <L extends ListName>(
  query: ListQuery<L>,
  content: ReadonlyArray<unknown>,
  sha256: (text: string) => string,
): string => {
  const filter = Object.entries<SortValue | boolean | undefined>(query.filter)
    .flatMap(([name, value]) =>
      value === undefined ? [] : [[name, typeof value === "bigint" ? value.toString() : value] as const],
    )
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
  return sha256(JSON.stringify([query.list, query.sort, query.direction, filter, content])).slice(
    0,
    CHECKSUM_DIGITS,
  )
}

/** An opaque, URL-safe cursor of at most 512 characters (docs/rules.md#lists). */
export const encodeCursor = <L extends ListName>(
  query: ListQuery<L>,
  side: CursorSide,
  position: Position,
  sha256: (text: string) => string,
): string => {
  const content = [side, position.isInclusive, position.values.map(toWire)] as const
  return encodeBase64Url(JSON.stringify([checksum(query, content, sha256), ...content]))
}

const REFUSED = new ValidationError({
  message:
    "cursor must be a next_cursor from the same list, sort and filter, or its prev_cursor with back=true",
})

// Anyone can make a cursor with a valid checksum, so values must also be comparable in every
// storage.
const TEXT = plainText({ min: 1, max: 512 })
const STORED_BITS = 64
const toStored = (value: bigint): bigint | undefined =>
  BigInt.asIntN(STORED_BITS, value) === value ? value : undefined

const fromWire = (column: SortColumn<never>, value: string | number | undefined): SortValue | undefined => {
  switch (column.type) {
    case "text":
      return typeof value === "string" && TEXT.test(value) ? value : undefined
    case "number":
      return typeof value === "number" ? value : undefined
    case "bigint":
      return typeof value === "string" && /^-?\d{1,19}$/.test(value) ? toStored(BigInt(value)) : undefined
  }
}

/** Reads a cursor. Fails if it is malformed, changed, or of another query or direction. */
export const decodeCursor = <L extends ListName>(
  query: ListQuery<L>,
  columns: ReadonlyArray<SortColumn<never>>,
  side: CursorSide,
  cursor: string,
  sha256: (text: string) => string,
): Result.Result<Position, ValidationError> => {
  const decoded = Result.flatMap(decodeBase64Url(cursor), decodeContent)
  if (Result.isFailure(decoded)) return Result.fail(REFUSED)
  const [, , isInclusive, wire] = decoded.success
  const values = columns.map((column, index) => fromWire(column, wire[index]))
  if (values.includes(undefined)) return Result.fail(REFUSED)
  const position = { values: values.filter((value) => value !== undefined), isInclusive }
  // Several texts decode to this position; only the canonical one is accepted.
  return encodeCursor(query, side, position, sha256) === cursor
    ? Result.succeed(position)
    : Result.fail(REFUSED)
}
