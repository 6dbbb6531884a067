/// <reference lib="es2024.string" />
import { Schema, SchemaTransformation } from "effect"

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

const LENGTH = { min: 1, max: 253 }
const TEXT = plainText(LENGTH)

/** The name of the host that an agent runs on, as the agent gives it: 1 to 253 characters (docs/rules.md#numbers-and-text). */
export const Hostname = Schema.String.check(
  isPlainText(LENGTH).annotate({
    identifier: "Hostname",
    description: "The name of the host that the agent runs on.",
  }),
)

/** Whether a value is a {@link Hostname}, without the schema's machinery. */
export const isHostname = (value: unknown): value is string => typeof value === "string" && TEXT.test(value)

/** How many bytes `text` takes in UTF-8; a lone surrogate counts three, as the U+FFFD that stands for it would. */
export const utf8Length = (text: string): number => {
  let bytes = text.length
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index)
    if (unit <= 0x7f) continue
    if (unit <= 0x7ff) {
      bytes += 1
    } else if (isPairAt(text, index)) {
      // Two code units, four bytes.
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

const MAX_OUTPUT_BYTES = 8192

/** Whether an output is short enough. */
export const isShortOutput = (text: string): boolean =>
  // A code unit takes one to three bytes, so most texts need no walk.
  text.length <= MAX_OUTPUT_BYTES &&
  (text.length * 3 <= MAX_OUTPUT_BYTES || utf8Length(text) <= MAX_OUTPUT_BYTES)

const isShort = Schema.makeFilter<string>(isShortOutput, {
  identifier: "CheckOutput",
  description: "What the check printed, at most 8192 bytes of UTF-8. NUL is stored as a space.",
  expected: `a string of at most ${MAX_OUTPUT_BYTES} bytes of UTF-8`,
  toJsonSchema: () => ({ maxLength: MAX_OUTPUT_BYTES }),
})

/** `text` with a space for NUL and U+FFFD for a lone surrogate, which not every storage keeps; as long in bytes. */
export const cleanOutput = (text: string): string => {
  const wellFormed = text.toWellFormed()
  // Looking first costs a fifth of a replacement that finds nothing.
  return wellFormed.includes("\0") ? wellFormed.replaceAll("\0", " ") : wellFormed
}

/**
 * What a check printed: at most 8192 bytes of UTF-8. Decoding cleans it, so that one odd byte does not lose a batch
 * (docs/rules.md#numbers-and-text).
 */
export const CheckOutput = Schema.String.check(isShort).pipe(
  Schema.decodeTo(
    Schema.String,
    SchemaTransformation.transform({ decode: cleanOutput, encode: (text) => text }),
  ),
)

/** Longest text of an output that leaves the system, in characters (docs/rules.md#incidents, docs/rules.md#notifiers). */
const FIRST_LINE_CHARACTERS = 512

/** UTF-16 units of a character. */
const MOST_UNITS = 2

/** The first line of an output, at most 512 characters; `undefined` where there is no text in it. */
export const firstLine = (output: string | undefined): string | undefined => {
  if (output === undefined) return undefined
  const end = output.search(/[\r\n]/)
  const line = end === -1 ? output : output.slice(0, end)
  if (line === "") return undefined
  // Most lines are short enough in UTF-16 units too, which spares splitting them into code points.
  if (line.length <= FIRST_LINE_CHARACTERS) return line
  // Of a longer one no more is split than is kept: a batch can hold a megabyte of them.
  return Array.from(line.slice(0, FIRST_LINE_CHARACTERS * MOST_UNITS))
    .slice(0, FIRST_LINE_CHARACTERS)
    .join("")
}
