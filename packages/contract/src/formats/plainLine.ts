import { withoutSequences } from "./headline.ts"

/** Control, separator and bidi characters: they move a cursor, break a line or reverse text. */
const DISRUPTIVE = /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]+/gu

/** `text` as one line that is safe on a terminal; lone surrogates become U+FFFD. */
export const plainLine = (text: string): string =>
  withoutSequences(text)
    .replace(DISRUPTIVE, " ")
    .replace(/\p{Cs}/gu, "\ufffd")
    .trim()
