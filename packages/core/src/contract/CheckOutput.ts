/// <reference lib="es2024.string" />
import { Schema, SchemaTransformation } from "effect"
import { utf8Length } from "./utf8Length.ts"

const MAX_OUTPUT_BYTES = 8192

const isShort = Schema.makeFilter<string>(
  // A code unit takes one to three bytes, so most texts need no walk.
  (text) =>
    text.length <= MAX_OUTPUT_BYTES &&
    (text.length * 3 <= MAX_OUTPUT_BYTES || utf8Length(text) <= MAX_OUTPUT_BYTES),
  {
    identifier: "CheckOutput",
    description: "What the check printed, at most 8192 bytes of UTF-8. NUL is stored as a space.",
    expected: `a text of at most ${MAX_OUTPUT_BYTES} bytes of UTF-8`,
    toJsonSchema: () => ({ maxLength: MAX_OUTPUT_BYTES }),
  },
)

/** `text` with a space for NUL and U+FFFD for a lone surrogate, which not every storage keeps; as long in bytes. */
export const cleanOutput = (text: string): string => text.toWellFormed().replaceAll("\0", " ")

/**
 * What a check printed: at most 8192 bytes of UTF-8. Decoding cleans it, so that one odd byte does not lose a batch
 * (decisions §2).
 */
export const CheckOutput = Schema.String.check(isShort).pipe(
  Schema.decodeTo(
    Schema.String,
    SchemaTransformation.transform({ decode: cleanOutput, encode: (text) => text }),
  ),
)
