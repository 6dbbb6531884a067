import { sizeRules } from "./decodeRequest.ts"

/**
 * More values than the largest declaration has, 7,002, so a body with more cannot fit the contract.
 * JSON.parse takes 3 ms for this many, and up to 100 ms for as many as 1 MiB can contain.
 */
export const MAX_VALUES = 8_000

/** More values than alerts of 1 MiB have, which take twenty bytes each and more. */
export const MAX_SENDER_VALUES = 50_000

/** A value and the separator before the next one. */
const LEAST_BYTES_OF_VALUE = 2

const QUOTE = 0x22
const COMMA = 0x2c
const OPEN_BRACKET = 0x5b
const BACKSLASH = 0x5c
const CLOSE_BRACKET = 0x5d
const OPEN_BRACE = 0x7b
const CLOSE_BRACE = 0x7d

/**
 * The index of the closing quote of the string that begins at `start`, or beyond the end of the
 * text.
 */
const endOfString = (json: Uint8Array, start: number): number => {
  let at = start + 1
  while (at < json.length && json[at] !== QUOTE) at += json[at] === BACKSLASH ? 2 : 1
  return at
}

/** The field of the body in which the count ran over. */
interface Overflow {
  readonly keyStart: number
  readonly keyEnd: number
  readonly entries: number
}

/** Reads until the count exceeds `most`; `undefined` if it does not. */
const findOverflow = (json: Uint8Array, most: number): Overflow | undefined => {
  if (json.length < LEAST_BYTES_OF_VALUE * most) return undefined
  let values = 0
  let depth = 0
  let isKeyNext = false
  let keyStart = 0
  let keyEnd = 0
  let entries = 0
  for (let at = 0; at < json.length && values <= most; at++) {
    switch (json[at]) {
      case QUOTE: {
        const end = endOfString(json, at)
        if (isKeyNext) {
          keyStart = at + 1
          keyEnd = end
          entries = 0
          isKeyNext = false
        }
        at = end
        break
      }
      case OPEN_BRACKET:
      case OPEN_BRACE:
        values += 1
        depth += 1
        isKeyNext = depth === 1
        if (depth === 2) entries += 1
        break
      case COMMA:
        values += 1
        isKeyNext = depth === 1
        if (depth === 2) entries += 1
        break
      case CLOSE_BRACKET:
      case CLOSE_BRACE:
        depth -= 1
        break
    }
  }
  return values > most ? { keyStart, keyEnd, entries } : undefined
}

const isNamed = (json: Uint8Array, { keyStart, keyEnd }: Overflow, name: string): boolean =>
  String.fromCharCode(...json.subarray(keyStart, Math.min(keyEnd, keyStart + name.length + 1))) === name

/**
 * Says why a JSON body contains too many values to be parsed: more than {@link MAX_VALUES} elements
 * and members. It counts them in the bytes, in at most 3 ms. Text that is not JSON may count as
 * anything.
 */
export const overfullBody = (json: Uint8Array): string | undefined => {
  const overflow = findOverflow(json, MAX_VALUES)
  if (overflow === undefined) return undefined
  for (const [field, { message, most }] of Object.entries(sizeRules))
    if (overflow.entries > most && isNamed(json, overflow, field)) return message
  return `the request body must contain at most ${MAX_VALUES} values; send at most 200 events, 32 labels and 1000 checks`
}

/** The same for the body of a sender that does not speak the API. */
export const overfullSenderBody = (json: Uint8Array): string | undefined =>
  findOverflow(json, MAX_SENDER_VALUES) &&
  `the request body must contain at most ${MAX_SENDER_VALUES} values; send fewer alerts in a request`
