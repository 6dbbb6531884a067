/**
 * Twice as many values as the largest batch has: a body with more does not fit the contract, whatever it is. JSON.parse takes
 * 2 ms for so many, and up to 100 ms for those that a body of 1 MiB can hold.
 */
export const MAX_VALUES = 5_000

/** A value and what separates it from the next one. */
const LEAST_BYTES_OF_VALUE = 2

const QUOTE = 0x22
const COMMA = 0x2c
const OPEN_BRACKET = 0x5b
const BACKSLASH = 0x5c
const OPEN_BRACE = 0x7b

/** Where the string that begins at `start` ends: the index of its closing quote, or the length of the text. */
const endOfString = (json: Uint8Array, start: number): number => {
  let at = start + 1
  while (at < json.length && json[at] !== QUOTE) at += json[at] === BACKSLASH ? 2 : 1
  return at
}

/**
 * Whether a body holds more than {@link MAX_VALUES} elements and members, deep or wide, counted before they are parsed. An
 * empty array or object counts as one. Takes at most 2 ms. A text that is no JSON may count as anything.
 */
export const hasTooManyValues = (json: Uint8Array): boolean => {
  if (json.length < LEAST_BYTES_OF_VALUE * MAX_VALUES) return false
  let values = 0
  for (let at = 0; at < json.length; at++) {
    switch (json[at]) {
      case QUOTE:
        at = endOfString(json, at)
        break
      case COMMA:
      case OPEN_BRACKET:
      case OPEN_BRACE:
        values += 1
        if (values > MAX_VALUES) return true
        break
    }
  }
  return false
}
