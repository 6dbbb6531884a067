import type { Draw } from "./Draw.ts"
import { type Input, withoutStraySecrets } from "./Input.ts"

const FIELDS = [
  "Transfer-Encoding: chunked\r\n",
  "Transfer-Encoding: gzip, chunked\r\n",
  "Content-Length: 5\r\n",
  "Content-Length: 99999999999999999999\r\n",
  "Expect: 100-continue\r\n",
  "Connection: close\r\n",
  "Connection: upgrade\r\nUpgrade: h2c\r\n",
  "Content-Encoding: gzip\r\n",
  "Content-Encoding: deflate\r\n",
  "Content-Type: multipart/form-data; boundary=\r\n",
  "Host: other\r\n",
  "Origin: https://example.org\r\n",
  "Accept: text/html\r\n",
  "X-Request-Id: a\tb\r\n",
  "X-Forwarded-For: 10.0.0.1, [::1]:80, \r\n",
  " folded\r\n",
  "Cookie: a=b\r\n",
  "If-None-Match: *\r\n",
  "Range: bytes=0-0\r\n",
] as const

const TOKENS = [
  "\r\n", "\n", "\r", "\0", " ", "\t", ":", "%00", "%2e%2e/", "//", "?", "#", "\xff", "\xc0\x80", "\xed\xa0\x80",
  "0\r\n\r\n", "fffffff\r\n", "-1", "1e999", "HTTP/1.0", "HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
  "__proto__", '"', "\\u0000", "\\ud800", "{", "[", "[[[[[[[[", "null", "\x16\x03\x01", "\x1f\x8b\x08",
] as const // oxfmt-ignore

type Mutation = (text: string, draw: Draw, other: string) => string

const inserted = (text: string, at: number, part: string): string => text.slice(0, at) + part + text.slice(at)

/** Where the lines of a head begin, the first one left out. */
const lineStarts = (text: string): readonly [number, ...ReadonlyArray<number>] => {
  const end = text.indexOf("\r\n\r\n")
  const [first = 0, ...rest] = Array.from(text.slice(0, end + 2).matchAll(/\r\n/g), ({ index }) => index + 2)
  return [first, ...rest]
}

const range = (text: string, draw: Draw): readonly [number, number] => {
  const from = draw.below(text.length + 1)
  return [from, Math.min(text.length, from + 1 + draw.below(16))]
}

const chunked: Mutation = (text, draw) => {
  const end = text.indexOf("\r\n\r\n")
  if (end < 0) return text
  const head = text.slice(0, end + 2).replace(/content-length:.*\r\n/i, "")
  const body = text.slice(end + 4)
  const at = draw.below(body.length + 1)
  const parts = [body.slice(0, at), body.slice(at)].filter((part) => part !== "")
  const chunks = parts.map((part) => `${part.length.toString(16)}\r\n${part}\r\n`).join("")
  return `${head}Transfer-Encoding: chunked\r\n\r\n${chunks}0\r\n\r\n`
}

const MUTATIONS: readonly [Mutation, ...ReadonlyArray<Mutation>] = [
  (text, draw) => {
    const at = draw.below(text.length)
    return text.slice(0, at) + String.fromCodePoint(draw.below(256)) + text.slice(at + 1)
  },
  (text, draw) => inserted(text, draw.below(text.length + 1), draw.oneOf(TOKENS)),
  (text, draw) => inserted(text, draw.oneOf(lineStarts(text)), draw.oneOf(FIELDS)),
  (text, draw) => {
    const [from, to] = range(text, draw)
    return text.slice(0, from) + text.slice(to)
  },
  (text, draw) => {
    const [from, to] = range(text, draw)
    return inserted(text, to, text.slice(from, to))
  },
  (text, draw) => text.slice(0, draw.below(text.length + 1)),
  (text, draw, other) =>
    text.slice(0, draw.below(text.length + 1)) + other.slice(draw.below(other.length + 1)),
  (text, _, other) => text + other,
  (text, draw) => text.repeat(2 + draw.below(3)),
  (text, draw) =>
    text.replace(/(content-length: )(\d+)/i, (_, name: string, length: string) => {
      return name + String(Math.max(0, Number(length) + draw.below(5) - 2))
    }),
  chunked,
]

/** Up to three writes of a text, so that a server reads it in parts. */
const inParts = (text: string, draw: Draw): ReadonlyArray<string> => {
  const cuts = Array.from({ length: Math.max(0, draw.below(6) - 3) }, () => draw.below(text.length + 1))
  const places = [0, ...cuts.toSorted((a, b) => a - b), text.length]
  return places.slice(1).map((place, index) => text.slice(places[index], place))
}

/** An input with up to three changes, some of which take a part of another input. */
export const mutated = (input: Input, other: Input, draw: Draw): Input => {
  let text = input.writes.join("")
  for (let left = 1 + draw.below(3); left > 0 && text !== ""; left -= 1)
    text = draw.oneOf(MUTATIONS)(text, draw, other.writes.join(""))
  return { writes: inParts(withoutStraySecrets(text), draw) }
}
