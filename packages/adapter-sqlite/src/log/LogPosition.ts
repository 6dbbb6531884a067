/**
 * How far a write-ahead log was written. Its salts change whenever it starts over, so no two commits have the same
 * position: equal ones have nothing between them.
 */
export interface LogPosition {
  readonly salts: bigint
  readonly pages: number
}

/** Before the first page of any log. */
export const LOG_START: LogPosition = { salts: 0n, pages: 0 }

export const isSamePosition = (one: LogPosition, other: LogPosition): boolean =>
  one.salts === other.salts && one.pages === other.pages
