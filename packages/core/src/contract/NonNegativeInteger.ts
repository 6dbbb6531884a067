import { Schema } from "effect"

const EXPECTED = "an integer of at least 0"

/** A count or a length of time: an integer from 0 to 2^53 − 1 (decisions §2). */
export const NonNegativeInteger = Schema.Number.check(
  Schema.isInt({ expected: EXPECTED }),
  Schema.isGreaterThanOrEqualTo(0, { expected: EXPECTED }),
)
