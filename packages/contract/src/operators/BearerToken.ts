import { Redacted } from "effect"

/** A text that may be a bearer token: 1 to 512 visible ASCII characters (docs/rules.md#tokens). */
export const TOKEN = /^[\x21-\x7e]{1,512}$/

export const isWellFormed = (token: Redacted.Redacted): boolean => TOKEN.test(Redacted.value(token))
