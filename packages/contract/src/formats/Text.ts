import { Schema, SchemaTransformation } from "effect"
import { named } from "./Fields.ts"
import { cleanOutput, isShortOutput, MAX_OUTPUT_BYTES } from "./outputText.ts"

// With the u flag this class counts code points, and its surrogates match only lone ones.
const PLAIN_CHARACTER = String.raw`[^\u0000-\u001f\ud800-\udfff]`

/** Length of a text in code points. */
export interface TextLength {
  readonly min: number
  readonly max: number
}

/** The pattern of the texts that {@link isPlainText} accepts. */
export const plainText = ({ min, max }: TextLength): RegExp =>
  new RegExp(`^${PLAIN_CHARACTER}{${min},${max}}$`, "u")

/**
 * Checks the length in code points, and refuses C0 controls and lone surrogates, so that every
 * storage keeps the text unchanged (docs/rules.md#numbers-and-text).
 */
export const isPlainText = (length: TextLength) => {
  const { min, max } = length
  return Schema.isPattern(plainText(length), {
    expected: `a string of ${min === 0 ? `at most ${max}` : `${min} to ${max}`} characters without control characters`,
    // No pattern: many OpenAPI tools cannot read its escapes.
    toJsonSchema: () => (min === 0 ? { maxLength: max } : { minLength: min, maxLength: max }),
  })
}

/** The same for parameters; a document states it in a pattern that every regular expression engine can read. */
export const isPlainParameter = (length: TextLength) =>
  isPlainText(length).annotate({
    toJsonSchema: () => ({
      minLength: length.min,
      maxLength: length.max,
      pattern: String.raw`^[^\x00-\x1f]*$`,
    }),
  })

/** The same for texts of several lines: line breaks are no controls here, alone or after a return. */
export const isPlainLines = ({ min, max }: TextLength) =>
  Schema.isPattern(new RegExp(String.raw`^(?=[\s\S]{${min},${max}}$)(?:\r?\n|${PLAIN_CHARACTER})*$`, "u"), {
    expected: `a text of ${min} to ${max} characters without control characters other than line breaks`,
    toJsonSchema: () => ({ minLength: min, maxLength: max }),
  })

const LENGTH = { min: 1, max: 253 }
const TEXT = plainText(LENGTH)

/** The host name that an agent reports: 1 to 253 characters (docs/rules.md#numbers-and-text). */
export const Hostname = Schema.String.check(
  isPlainText(LENGTH).annotate(named("Hostname", "The name of the host that the agent runs on.")),
)

/** Whether a value is a {@link Hostname}; faster than the schema. */
export const isHostname = (value: unknown): value is string => typeof value === "string" && TEXT.test(value)

const isShort = Schema.makeFilter<string>(isShortOutput, {
  identifier: "CheckOutput",
  description: "The output of the check, at most 8192 bytes of UTF-8. NUL is stored as a space.",
  expected: `a string of at most ${MAX_OUTPUT_BYTES} bytes of UTF-8`,
  toJsonSchema: () => ({ maxLength: MAX_OUTPUT_BYTES }),
})

/**
 * The output of a check: at most 8192 bytes of UTF-8. Decoding cleans it, so that one odd byte does
 * not lose a batch (docs/rules.md#numbers-and-text).
 */
export const CheckOutput = Schema.String.check(isShort).pipe(
  Schema.decodeTo(
    Schema.String,
    SchemaTransformation.transform({ decode: cleanOutput, encode: (text) => text }),
  ),
)
