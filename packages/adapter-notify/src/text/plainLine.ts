/** What moves a cursor, breaks a line or turns the direction of writing round: control, separator and bidi characters. */
const DISRUPTIVE = /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]+/gu

/** `text` as one line that is safe to show among others, on a terminal too; lone surrogates become U+FFFD. */
export const plainLine = (text: string): string =>
  text
    .replace(DISRUPTIVE, " ")
    .replace(/\p{Cs}/gu, "\ufffd")
    .trim()
