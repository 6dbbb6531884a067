import { Buffer } from "node:buffer"

const ENTITIES: Readonly<Record<string, string>> = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  apos: "'",
  "#39": "'",
}

const ESCAPES: Readonly<Record<string, string>> = { n: "\n", r: "\r", t: "\t" }

const percentDecoded = (text: string): string =>
  text
    .replaceAll("+", " ")
    .replaceAll(/(?:%[0-9a-f]{2})+/gi, (encoded) =>
      Buffer.from(encoded.replaceAll("%", ""), "hex").toString(),
    )

const withoutEscapes = (text: string): string =>
  text.replaceAll(/\\(?:u([0-9a-f]{4})|(.))/gi, (_, hex: string | undefined, escaped: string = "") =>
    hex === undefined ? (ESCAPES[escaped] ?? escaped) : String.fromCharCode(Number.parseInt(hex, 16)),
  )

const withoutEntities = (text: string): string =>
  text.replaceAll(/&(amp|lt|gt|quot|apos|#39);/g, (_, name: string) => ENTITIES[name] ?? "")

const quotedPrintable = (text: string): string =>
  text
    .replaceAll(/=\r?\n/g, "")
    .replaceAll(/(?:=[0-9A-F]{2})+/g, (encoded) => Buffer.from(encoded.replaceAll("=", ""), "hex").toString())

/** All that looks like base64, also over several lines. */
const base64Decoded = (text: string): string =>
  Array.from(text.matchAll(/[\w+/-]{8,}(?:\r?\n[\w+/-]+)*/g), ([found]) =>
    Buffer.from(found, "base64").toString(),
  ).join("\n")

const DECODERS = [percentDecoded, withoutEscapes, withoutEntities, quotedPrintable, base64Decoded]

/** A text as it is, and decoded once or twice in the usual ways. */
const formsOf = (text: string): ReadonlyArray<string> => {
  const once = DECODERS.map((decode) => decode(text))
  return [text, ...once, ...once.flatMap((decoded) => DECODERS.map((decode) => decode(decoded)))]
}

/** Markup characters, which some services want escaped by a backslash, and white space. */
const plain = (text: string): string => text.replaceAll(/[\\*_~`|\s]+/g, " ").toLowerCase()

/** Whether one of these words stands in a text, in a usual encoding. */
export const mentions = (text: string, words: ReadonlyArray<string>): boolean =>
  formsOf(text).some((form) => words.some((word) => form.includes(word) || plain(form).includes(plain(word))))
