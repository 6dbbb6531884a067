/// <reference lib="es2024.string" />
import { Schema, SchemaTransformation } from "effect"

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
  isPlainText(LENGTH).annotate({
    identifier: "Hostname",
    description: "The name of the host that the agent runs on.",
  }),
)

/** Whether a value is a {@link Hostname}; faster than the schema. */
export const isHostname = (value: unknown): value is string => typeof value === "string" && TEXT.test(value)

/** The length of `text` in UTF-8; a lone surrogate counts as the three bytes of U+FFFD. */
export const utf8Length = (text: string): number => {
  let bytes = text.length
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index)
    if (unit <= 0x7f) continue
    if (unit <= 0x7ff) {
      bytes += 1
    } else if (isPairAt(text, index)) {
      bytes += 2
      index += 1
    } else {
      bytes += 2
    }
  }
  return bytes
}

const isPairAt = (text: string, index: number): boolean =>
  (text.charCodeAt(index) & 0xfc00) === 0xd800 && (text.charCodeAt(index + 1) & 0xfc00) === 0xdc00

/** The longest output, in bytes of UTF-8. */
export const MAX_OUTPUT_BYTES = 8192

export const isShortOutput = (text: string): boolean =>
  // A code unit takes one to three bytes, so most texts need no walk.
  text.length <= MAX_OUTPUT_BYTES &&
  (text.length * 3 <= MAX_OUTPUT_BYTES || utf8Length(text) <= MAX_OUTPUT_BYTES)

const isShort = Schema.makeFilter<string>(isShortOutput, {
  identifier: "CheckOutput",
  description: "The output of the check, at most 8192 bytes of UTF-8. NUL is stored as a space.",
  expected: `a string of at most ${MAX_OUTPUT_BYTES} bytes of UTF-8`,
  toJsonSchema: () => ({ maxLength: MAX_OUTPUT_BYTES }),
})

/** `text` with a space for NUL and U+FFFD for a lone surrogate, which some storages refuse. */
export const cleanOutput = (text: string): string => {
  const wellFormed = text.toWellFormed()
  // Looking first costs a fifth of a replacement that finds nothing.
  return wellFormed.includes("\0") ? wellFormed.replaceAll("\0", " ") : wellFormed
}

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

/**
 * The longest part of an output that leaves the system, in characters (docs/rules.md#incidents,
 * docs/rules.md#notifiers).
 */
const FIRST_LINE_CHARACTERS = 512

/** UTF-16 units of a character. */
const MOST_UNITS = 2

/** The first line of an output, at most 512 characters; `undefined` if it is empty. */
export const firstLine = (output: string | undefined): string | undefined => {
  if (output === undefined) return undefined
  const end = output.search(/[\r\n]/)
  const line = end === -1 ? output : output.slice(0, end)
  if (line === "") return undefined
  // Most lines are also short in UTF-16 units, and need no splitting into code points.
  if (line.length <= FIRST_LINE_CHARACTERS) return line
  // Splits no more than it keeps: a batch can contain a megabyte of output.
  return Array.from(line.slice(0, FIRST_LINE_CHARACTERS * MOST_UNITS))
    .slice(0, FIRST_LINE_CHARACTERS)
    .join("")
}
