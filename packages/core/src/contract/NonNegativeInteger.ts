import { Schema } from "effect"

const EXPECTED = "an integer of at least 0"

/** A count or a length of time: an integer from 0 to 2^53 − 1 (docs/rules.md#values). */
export const NonNegativeInteger = Schema.Number.check(
  Schema.isInt({ expected: EXPECTED }),
  Schema.isGreaterThanOrEqualTo(0, { expected: EXPECTED }),
)

/** Whether a value is a {@link NonNegativeInteger}, without the schema's machinery. */
export const isNonNegativeInteger = (value: unknown): value is number =>
  typeof value === "number" && Number.isSafeInteger(value) && value >= 0
