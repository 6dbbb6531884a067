import { Schema } from "effect"

// With the u flag this class counts code points and its surrogates match only lone ones.
const PLAIN_CHARACTER = String.raw`[^\u0000-\u001f\ud800-\udfff]`

/**
 * The check of a text of `min` to `max` Unicode code points without C0 controls (NUL included) and lone
 * surrogates, so that every storage keeps it alike (decisions §2).
 */
export const isPlainText = (bounds: { readonly min: number; readonly max: number }) => {
  const { min, max } = bounds
  return Schema.isPattern(new RegExp(`^${PLAIN_CHARACTER}{${min},${max}}$`, "u"), {
    expected: `a text of ${min === 0 ? `at most ${max}` : `${min} to ${max}`} characters without control characters`,
    // No pattern: its escapes are beyond the regular expressions of many readers of an OpenAPI document.
    toJsonSchema: () => (min === 0 ? { maxLength: max } : { minLength: min, maxLength: max }),
  })
}
