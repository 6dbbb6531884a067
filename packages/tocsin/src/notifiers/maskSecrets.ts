import { Buffer } from "node:buffer"

/** Shorter texts are part of ordinary words and numbers. */
const SHORTEST = 8

const MASK = "***"

/** Without white space around it, which headers drop. */
const coreOf = (secret: string): string => secret.trim()

/** Whether a text can be masked: a shorter one would be masked in innocent words. */
export const isMaskable = (secret: unknown): secret is string =>
  typeof secret === "string" && Array.from(coreOf(secret)).length >= SHORTEST

const hexOf = (number: number, digits: number): string => number.toString(16).padStart(digits, "0")

const unitsOf = (character: string): ReadonlyArray<number> =>
  Array.from({ length: character.length }, (_, unit) => character.charCodeAt(unit))

/** A pattern of one character: as it is, percent-encoded, and as in JSON. */
const formsOf = (character: string): string => {
  const plain = (text: string) => unitsOf(text).map((unit) => String.raw`\u${hexOf(unit, 4)}`)
  const percent = Array.from(Buffer.from(character), (byte) => `%${hexOf(byte, 2)}`)
  const escaped = unitsOf(character).map((unit) => String.raw`\\u${hexOf(unit, 4)}`)
  const short = plain(JSON.stringify(character).slice(1, -1))
  const slashed = plain(`\\${character}`)
  const spaces = character === " " ? [String.raw`\+`] : []
  const forms = [slashed, short, escaped, percent, plain(character)].map((form) => form.join(""))
  return `(?:${[...forms, ...spaces].join("|")})`
}

type Range = readonly [from: number, to: number]

/** Where these patterns match; matches that overlap are one. */
const rangesOf = (text: string, patterns: ReadonlyArray<RegExp>): ReadonlyArray<Range> => {
  const found = patterns.flatMap((pattern) =>
    Array.from(text.matchAll(pattern), ({ 0: match, index }): Range => [index, index + match.length]),
  )
  const ranges: Array<Range> = []
  for (const [from, to] of found.toSorted(([a], [b]) => a - b)) {
    const last = ranges.at(-1)
    if (last === undefined || last[1] <= from) ranges.push([from, to])
    else ranges[ranges.length - 1] = [last[0], Math.max(last[1], to)]
  }
  return ranges
}

/**
 * Makes a function that replaces secrets in a text, whole where they overlap, also where they are percent-encoded or
 * as in JSON. Addresses and headers change the case of letters, so case does not count.
 */
export const maskOf = (secrets: ReadonlyArray<string>): ((text: string) => string) => {
  const patterns = secrets.map((secret) => new RegExp(Array.from(coreOf(secret), formsOf).join(""), "gi"))
  return (text) =>
    rangesOf(text, patterns)
      .toReversed()
      .reduce((masked, [from, to]) => `${masked.slice(0, from)}${MASK}${masked.slice(to)}`, text)
}
