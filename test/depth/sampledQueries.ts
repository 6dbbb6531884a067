import { type AnyQuery, everyQuery } from "../../bench/depth/listings.ts"
import { AT_LENGTH } from "../properties/atLength.ts"

/** The halves into which queries are divided in a sample. */
export const HALVES = [0, 1] as const

/**
 * The queries of a half: in a sample, of each filter and order those in one direction, which the next
 * order has in the other half. At length, all of them.
 */
export const queriesOf = (half: (typeof HALVES)[number]): ReadonlyArray<AnyQuery> =>
  AT_LENGTH ? everyQuery : everyQuery.filter((_, n) => (n + Math.floor(n / 2)) % HALVES.length === half)
