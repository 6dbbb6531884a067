import { Schema } from "effect"

// With the u flag this class counts code points and its surrogates match only lone ones.
const PLAIN_CHARACTER = String.raw`[^\u0000-\u001f\ud800-\udfff]`

/** How many code points a text has, at least and at most. */
export interface TextLength {
  readonly min: number
  readonly max: number
}

/** The pattern of the texts that {@link isPlainText} lets through. */
export const plainText = ({ min, max }: TextLength): RegExp =>
  new RegExp(`^${PLAIN_CHARACTER}{${min},${max}}$`, "u")

/**
 * The check of a text of `min` to `max` Unicode code points without C0 controls (NUL included) and lone
 * surrogates, so that every storage keeps it alike (docs/rules.md#numbers-and-text).
 */
export const isPlainText = (length: TextLength) => {
  const { min, max } = length
  return Schema.isPattern(plainText(length), {
    expected: `a string of ${min === 0 ? `at most ${max}` : `${min} to ${max}`} characters without control characters`,
    // No pattern: its escapes are beyond the regular expressions of many readers of an OpenAPI document.
    toJsonSchema: () => (min === 0 ? { maxLength: max } : { minLength: min, maxLength: max }),
  })
}
