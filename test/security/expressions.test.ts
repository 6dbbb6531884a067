import { globSync, readFileSync } from "node:fs"
import process from "node:process"
import { assert, describe, it } from "@effect/vitest"
import fc from "fast-check"
import { parseSync, Visitor } from "rolldown/utils"
import { AT_LENGTH, inTurn } from "../properties/atLength.ts"

/** A regular expression that a product file contains. */
interface Written {
  readonly where: string
  readonly expression: RegExp
}

const expressionsIn = (file: string): ReadonlyArray<Written> => {
  const text = readFileSync(file, "utf8")
  const found: Array<Written> = []
  const { program } = parseSync(file, text, { lang: file.endsWith("x") ? "tsx" : "ts" })
  new Visitor({
    Literal: (node) => {
      if (!("regex" in node)) return
      const { pattern, flags } = node.regex
      const line = text.slice(0, node.start).split("\n").length
      found.push({
        where: `${file}:${line} /${pattern}/${flags}`,
        expression: new RegExp(pattern, `${flags.replace("g", "")}g`),
      })
    },
  }).visit(program)
  return found
}

const RUN = 10_000
/** A linear expression takes a hundredth of it, a quadratic one several times as much. */
const MOST_MILLIS = 50
/** An expression that takes that long on a run takes more than this on a fifth of it, even if it is cubic. */
const PART = RUN / 5
const MOST_MILLIS_OF_PART = 0.3
const SAMPLES = AT_LENGTH ? 6 : 2
/** End a text so that an expression fails late, and tries every other way to match. */
const ENDS = ["", "\u0000", "!", "a a"]
const COMMON = [..." \n\r\ta0A./;:-=_,'\"()[]{}@#%"]

/** Texts of the grammars whose expressions have conditions, which the generator cannot read. */
const STATEMENTS = ["host = a b", "label:a glob b c", "gzip ; q=0.0 , a"]

/** Texts that an expression matches, at least in part. */
const samplesOf = (expression: RegExp): ReadonlyArray<string> => {
  try {
    const readable = new RegExp(expression.source, expression.unicode ? "u" : "")
    const matching = fc.stringMatching(readable, { size: "small" })
    return [...STATEMENTS, ...fc.sample(matching, { numRuns: SAMPLES, seed: 1 })]
  } catch {
    return STATEMENTS
  }
}

/**
 * Each sample with one of its characters repeated, or another instead, and runs of characters alone.
 * Each place has one of the others and one of the ends, and all of them at length.
 */
function* longRuns(expression: RegExp): Generator<(run: number) => string> {
  const letters = new Set([...COMMON, ...expression.source])
  for (const [place, letter] of Array.from(letters).entries())
    for (const end of inTurn(ENDS, place)) yield (run) => letter.repeat(run) + end
  for (const sample of samplesOf(expression)) {
    const characters = Array.from(sample.slice(0, 40))
    for (const [place, own] of characters.entries()) {
      const ends = inTurn(ENDS, place)
      const before = characters.slice(0, place).join("")
      const after = characters.slice(place).join("")
      for (const letter of new Set([own, ...inTurn([" ", "a"], Math.floor(place / ENDS.length))]))
        for (const end of ends) yield (run) => before + letter.repeat(run) + after + end
    }
  }
}

/** Processor time of this thread, which other work of the machine does not lengthen. */
const millisOf = (work: () => void): number => {
  const before = process.threadCpuUsage()
  work()
  const { user, system } = process.threadCpuUsage(before)
  return (user + system) / 1_000
}

const shown = (text: string): string =>
  JSON.stringify(text.replaceAll(/(.)\1{50,}/gsu, (_, one: string) => `<${one} ${RUN} times>`))

const slowOn = ({ expression }: Written): string | undefined => {
  for (const textOf of longRuns(expression)) {
    const part = textOf(PART)
    if (millisOf(() => part.replaceAll(expression, "")) < MOST_MILLIS_OF_PART) continue
    const text = textOf(RUN)
    const isSlow = () => millisOf(() => text.replaceAll(expression, "")) > MOST_MILLIS
    // Collecting garbage can fall into one measurement, and not into each of three.
    if (isSlow() && isSlow() && isSlow()) return shown(text)
  }
  return undefined
}

describe("every regular expression of the product", () => {
  it("takes linear time on a long run of any character", () => {
    const files = globSync("packages/*/src/**/*.{ts,tsx,mjs}")
    const found = files.flatMap(expressionsIn)
    assert.isAbove(found.length, 100)
    // The same one on another line, and those that repeat nothing, are as fast.
    const different = new Map(found.map((one) => [String(one.expression), one]))
    const repeating = Array.from(different.values()).filter(({ expression }) =>
      /[*+{]/.test(expression.source),
    )
    const slow = repeating.flatMap((one) => {
      const text = slowOn(one)
      return text === undefined ? [] : [`${one.where} on ${text}`]
    })
    assert.deepStrictEqual(slow, [])
  })
})
