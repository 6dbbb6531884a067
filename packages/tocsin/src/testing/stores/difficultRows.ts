import { Buffer } from "node:buffer"
import type { Entries } from "@tocsin/adapter-memory/keyValue/entries"
import { textOf } from "./rows.ts"

/** Names that are one to a store that folds case, normalizes, decodes, trims or cuts. */
const SIMILAR = [
  ["web-1", "Web-1", "WEB-1"],
  ["caf\u00e9", "cafe\u0301", "CAF\u00c9", "cafe"],
  ["\u212b", "\u00c5", "A\u030a"],
  ["\ufb01", "fi"],
  ["stra\u00dfe", "strasse"],
  ["i", "\u0131", "I", "\u0130"],
  ["1", "10", "01", "1.0", "1e0"],
  ["a:b", "a.b", "a_b", "a-b", "a b", "ab"],
  [".", "..", "...", "a.", "a"],
  ["%61", "a%20b", "a+b"],
  ["\u{1f469}\u200d\u{1f4bb}", "\u{1f469}", "\u{1f469}\u{1f4bb}"],
  ["x".repeat(600), "x".repeat(600) + "y", "x".repeat(600) + "Y", "\u00e9".repeat(600)],
].flat()

const KINDS = ["established", "incident_member/01900000-0000-7000-8000-000000000000"]

/** Texts that a store may change when it encodes, escapes or splits them. */
const TEXTS = [
  "caf\u00e9",
  "cafe\u0301",
  "\ufb01 \u212b \u00bd",
  "\u2028\u2029\u0085\u007f\u00a0\u200b\u200e\u202e\ufeff",
  "\ufffd\uffff\ufdd0\u{10ffff}",
  "\u{1f469}\u200d\u{1f4bb} \u{1d11e} \u6f22\u5b57",
  "\0\u0001\b\t\n\v\f\r\r\n\u001b",
  "\ud800 alone, \udc00 alone",
  "' \" ` \\ \\\\ \\n \\u0000 '' \"\" ; -- /* % %s %00 & < > $& $1 ${x} \\0",
  "  spaces at both ends  ",
  "null",
  "",
  "12345678901234567890",
]

/** A stored policy is the largest text that Tocsin writes. */
const LARGEST_BYTES = 2 * 1_048_576
const SIZES = [16_384, 65_535, 65_536, 65_537, 1_048_576]

/** A text of exactly so many bytes, most of them of characters that have several. */
const ofBytes = (bytes: number): string => {
  const [start, end] = ['{"policy":"', '"}']
  const room = bytes - start.length - end.length
  const wide = "\u6f22\u00e9\u{1f469}"
  const count = Math.floor(room / Buffer.byteLength(wide))
  return start + wide.repeat(count) + "x".repeat(room - count * Buffer.byteLength(wide)) + end
}

const namesIn = (kind: string): ReadonlyArray<string> => SIMILAR.map((name) => `${kind}/${name}`)
const keys = KINDS.flatMap(namesIn)

/** Changes in order, each of texts or keys that a store may confuse. */
export const difficultRows = (): ReadonlyArray<{ readonly name: string; readonly changes: Entries }> => [
  {
    name: "keys that are alike",
    changes: new Map(keys.map((key) => [key, JSON.stringify({ key })])),
  },
  {
    name: "deletions of some keys, and of an absent one",
    changes: new Map(
      [...keys, "established/absent"].filter((_, index) => index % 2 === 0).map((key) => [key, undefined]),
    ),
  },
  {
    name: "other texts of all keys that are alike",
    changes: new Map(keys.map((key, index) => [key, textOf(index)])),
  },
  {
    name: "texts with difficult characters",
    changes: new Map(TEXTS.map((text, index) => [`check_state/web-1/${index}/0`, JSON.stringify({ text })])),
  },
  {
    name: "large texts",
    changes: new Map([
      ...SIZES.map((size) => [`policy_version/${size}`, textOf(size)] as const),
      ["policy_version/2", `{"policy":"${"x".repeat(LARGEST_BYTES - 13)}"}`],
      ["policy_version/3", ofBytes(LARGEST_BYTES)],
    ]),
  },
  {
    name: "short texts instead of large ones",
    changes: new Map(SIZES.map((size) => [`policy_version/${size}`, textOf(1)])),
  },
]
