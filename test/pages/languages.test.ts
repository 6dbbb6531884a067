import { execFileSync } from "node:child_process"
import process from "node:process"
import { fileURLToPath } from "node:url"
import { assert, it } from "@effect/vitest"

const folder = fileURLToPath(new URL("../../packages/contract/src/languages/", import.meta.url))

/** Prints whether a language was there before a reader had it, and how many bytes all of them take. */
const SCRIPT = `
const { loadWords, wordsOf } = await import(${JSON.stringify(`${folder}Languages.ts`)})
const { Language } = await import(${JSON.stringify(`${folder}Language.ts`)})
const others = Language.literals.filter((lang) => lang !== "en")
const early = others.filter((lang) => wordsOf(lang) !== wordsOf("en"))
const used = () => (gc(), gc(), process.memoryUsage().heapUsed)
const before = used()
await loadWords(others)
const bytes = used() - before
console.log(JSON.stringify({ early, late: others.filter((lang) => wordsOf(lang) === wordsOf("en")), bytes }))
`

it("a language is loaded where a reader has it, and all of them take less than 1 MiB", () => {
  const args = ["--expose-gc", "--input-type=module", "--eval", SCRIPT]
  const { bytes, early, late } = JSON.parse(execFileSync(process.execPath, args, { encoding: "utf8" }))
  assert.deepStrictEqual([early, late], [[], []])
  assert.isAtMost(bytes, 1_048_576)
})
