import type { Instant } from "@tocsin/core/contract/Instant"

/** A record as `json_to_recordset` reads it: 64-bit integers as text of their digits; what is left out is NULL. */
export type JsonRow<Row> = {
  readonly [Column in keyof Row]:
    | Exclude<Row[Column], bigint>
    | (Row[Column] & bigint extends never ? never : string)
}

/** An instant for a {@link JsonRow}. */
export function digits(instant: Instant): string
export function digits(instant: Instant | undefined): string | undefined
export function digits(instant: Instant | undefined): string | undefined {
  return instant?.toString()
}

/** A row as PostgreSQL gives it back, where these columns may be NULL. */
export type Nullable<Row, Columns extends keyof Row> = Omit<Row, Columns> & {
  readonly [Column in Columns]: Exclude<Row[Column], undefined> | null
}
