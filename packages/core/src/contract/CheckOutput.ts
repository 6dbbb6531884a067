/// <reference lib="es2024.string" />
import { Schema, SchemaTransformation } from "effect"
import { utf8Length } from "./utf8Length.ts"

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
