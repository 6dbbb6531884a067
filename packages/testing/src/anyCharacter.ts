import * as fc from "fast-check"

const SURROGATES = 0xd800
const HALF_PAIRS = 0x800

/** Any code point but half a pair. fast-check's own, `binary`, first makes a map of a million entries. */
export const anyCharacter: fc.Arbitrary<string> = fc
  .integer({ min: 0, max: 0x10_ffff - HALF_PAIRS })
  .map((place) => String.fromCodePoint(place < SURROGATES ? place : place + HALF_PAIRS))
