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

/**
 * Makes a function that replaces secrets in a text, the longest first, also where they are percent-encoded or
 * as in JSON. Addresses and headers change the case of letters, so case does not count.
 */
export const maskOf = (secrets: ReadonlyArray<string>): ((text: string) => string) => {
  const cores = secrets.map(coreOf).toSorted((a, b) => b.length - a.length)
  const patterns = cores.map((core) => new RegExp(Array.from(core, formsOf).join(""), "gi"))
  return (text) => patterns.reduce((masked, pattern) => masked.replace(pattern, MASK), text)
}
