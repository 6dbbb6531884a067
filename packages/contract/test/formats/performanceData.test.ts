import process from "node:process"
import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import { type PerformanceNumber, readPerformance, withNumbers } from "../../src/formats/performanceData.ts"

/** A second reader, which takes a text apart character by character, and shares no code with the first. */
const readSlowly = (text: string): ReadonlyArray<PerformanceNumber | undefined> => {
  const found: Array<PerformanceNumber | undefined> = []
  let rest = text.trimStart()
  while (rest !== "") {
    const [one, after] = readOne(rest)
    found.push(one)
    rest = after.trimStart()
  }
  return found
}

const isSpace = (character: string): boolean => character.trim() === ""

const wordOf = (text: string): string => {
  let end = 0
  while (end < text.length && !isSpace(text.charAt(end))) end++
  return text.slice(0, end)
}

const readOne = (text: string): readonly [PerformanceNumber | undefined, string] => {
  let no = [undefined, text.slice(wordOf(text).length)] as const
  let label = ""
  let at = 0
  if (text.startsWith("'")) {
    at = 1
    for (;;) {
      if (at >= text.length) return no
      if (text.startsWith("''", at)) {
        label += "'"
        at += 2
      } else if (text.charAt(at) === "'") break
      else label += text.charAt(at++)
    }
    at += 1
    // All of it is skipped, whatever the label contains.
    if (label !== "" && text.charAt(at) === "=")
      no = [undefined, text.slice(at + wordOf(text.slice(at)).length)]
  } else if (text.startsWith('"')) {
    // No plugin quotes so: all of it is skipped.
    const end = text.indexOf('"', 1)
    return end > 0 && text.charAt(end + 1) === "="
      ? [undefined, text.slice(end + 1 + wordOf(text.slice(end + 1)).length)]
      : no
  } else
    while (at < text.length && !["=", "|"].includes(text.charAt(at)) && !isSpace(text.charAt(at)))
      label += text.charAt(at++)
  if (label === "" || text.charAt(at) !== "=") return no
  const all = wordOf(text.slice(at + 1))
  const next = nextIn(all)
  if (next === undefined) return no
  const word = next.word
  const [measured = "", ...fields] = word.split(";")
  let end = measured.length
  while (end > 0 && numberOf(measured.slice(0, end)) === undefined) end--
  const value = numberOf(measured.slice(0, end))
  const unit = measured.slice(end)
  const isUnit = [...unit].length <= 20 && ![...unit].some((one) => "0123456789,'\"=|".includes(one))
  if (value === undefined || !isUnit || word.includes("|")) return no
  const rest = text.slice(at + 1 + next.length)
  if (!Number.isFinite(value)) return [undefined, rest]
  const [warn, crit] = fields.map((field) => (isRange(field) ? field : undefined))
  const [min, max] = fields.slice(2).map((field) => (numberOf(field) === undefined ? undefined : field))
  return [{ label, value, unit, warn, crit, min, max }, rest]
}

/** The part of a word before another label, or before a comma at its end; and how many characters of it are read. */
const nextIn = (word: string): { readonly word: string; readonly length: number } | undefined => {
  const equals = word.indexOf("=")
  if (equals < 0) return { word: word.endsWith(",") ? word.slice(0, -1) : word, length: word.length }
  const end = Math.max(word.lastIndexOf(";", equals), word.lastIndexOf(",", equals))
  const label = word.slice(end + 1, equals)
  if (end < 0 || label === "" || "0123456789'\"".includes(label.charAt(0)) || label.includes("|"))
    return undefined
  const before = word.slice(0, end)
  // A comma at the end of thresholds is of none of them.
  return { word: before.includes(";") ? before.replace(/,$/, "") : before, length: end + 1 }
}

const numberOf = (text: string): number | undefined => {
  const isPlain = [...text].every((one) => "0123456789.eE+-".includes(one))
  // Number("") is 0, and an exponent needs a number before it.
  const hasDigit = /^[-+]?\.?\d/.test(text)
  const value = Number(text)
  return isPlain && hasDigit && !Number.isNaN(value) ? value : undefined
}

const isRange = (text: string): boolean => {
  const bare = text.startsWith("@") ? text.slice(1) : text
  const [start = "", end, ...more] = bare.split(":")
  if (more.length > 0) return false
  if (end === undefined) return numberOf(start) !== undefined
  return (
    (start === "" || start === "~" || numberOf(start) !== undefined) &&
    (end === "" || numberOf(end) !== undefined)
  )
}

describe("performance data", () => {
  it("are read as by a slow reader", () => {
    const piece = fc.constantFrom(
      ..."a=1;10 '.,:~@|%é😀-+eU\t\"".split(""),
      ..."label= 'a b'= 'it''s'= =1.5 =1e-05 =1e999 ms ;5 ;10:20 ;~:5 ;@1:2 ;; ;0,5 ;9% KiB = =U =1,5 123456789".split(
        " ",
      ),
    )
    const text = fc.array(piece, { maxLength: 24 }).map((pieces) => pieces.join(""))
    fc.assert(
      fc.property(text, (data) => assert.deepStrictEqual(readPerformance(data), readSlowly(data))),
      { numRuns: 2_000 },
    )
  })

  it("keep labels, units and ranges as they were written", () => {
    const none = { warn: undefined, crit: undefined, min: undefined, max: undefined }
    assert.deepStrictEqual(readPerformance(" 'it''s a=b'=-.5rpm;@1:2;~:5;0;9.5 time=0.1s;;;0 c=10c '='=1"), [
      { label: "it's a=b", value: -0.5, unit: "rpm", warn: "@1:2", crit: "~:5", min: "0", max: "9.5" },
      { label: "time", value: 0.1, unit: "s", ...none, min: "0" },
      { label: "c", value: 10, unit: "c", ...none },
      { label: "=", value: 1, unit: "", ...none },
    ])
  })

  it("leave out what is no range or bound, and further fields", () => {
    assert.deepStrictEqual(readPerformance("a=1;0,5;80%;~:2;1:2;6;7,"), [
      { label: "a", value: 1, unit: "", warn: undefined, crit: undefined, min: undefined, max: undefined },
    ])
  })

  it("skip a quoted label with its value, whatever is in it", () => {
    assert.deepStrictEqual(readPerformance("'java -Xms=5 -v'=U 'a=1"), [undefined, undefined])
  })

  it.each([
    "a=U",
    "a=1,5",
    "a=1,5,b=2",
    "a=NaN",
    "a=inf",
    "a=1e999",
    "=1",
    "a=",
    "a=1twenty-one-characters",
    "a",
    '"a = b"=1',
  ])("has no number in %s", (data) => assert.deepStrictEqual(readPerformance(data), [undefined]))

  it("are chosen by their labels, and those of check_multi by the names that it states once", () => {
    const chosen = (output: string, ...labels: ReadonlyArray<string>) =>
      withNumbers(output, (label) => labels.includes(label))
    assert.strictEqual(
      chosen("OK | a=1 b=2;3 x=U\nmore\n| c=4 'd e'=5", "b", "d e"),
      "OK | b=2;3 x=U\nmore\n| 'd e'=5",
    )
    const multi =
      "OK |check_multi::check_multi::plugins=2 time=1 web::check_http::time=2 'the size'=3B tcp::time=4"
    assert.strictEqual(
      chosen(multi, "web::check_http::the size", "tcp::time"),
      "OK | 'web::check_http::the size'=3B tcp::time=4",
    )
    assert.strictEqual(chosen("OK", "a"), "OK")
  })

  it("have labels with apostrophes as Icinga reads them", () => {
    const labels = readPerformance("it's=1.5s o''brien=1B").map((one) => one?.label)
    assert.deepStrictEqual(labels, ["it's", "o''brien"])
  })

  it.each([
    '"a '.repeat(4_000),
    "'x'' ".repeat(2_000),
    "'a".repeat(4_000),
    "1".repeat(8_000),
    `a=${"1".repeat(8_000)};`,
    `a=1;${",x".repeat(4_000)}`,
    `a=1;${";x".repeat(4_000)}=`,
    " ".repeat(8_000),
  ])("takes no longer for an odd text: %.10s", (text) => {
    const before = process.threadCpuUsage()
    readPerformance(text)
    assert.isBelow(process.threadCpuUsage(before).user, 500_000)
  })
})
