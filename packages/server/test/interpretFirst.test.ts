import { spawnSync } from "node:child_process"
import process from "node:process"
import { assert, it } from "@effect/vitest"

/** Says whether V8 has compiled a busy function before a timer could run, and whether it does later. */
const BUSY = `
import { interpretFirst } from ${JSON.stringify(import.meta.resolve("../src/interpretFirst.ts"))}
const add = (one, other) => one + other
const work = () => {
  let sum = 0
  for (let round = 0; round < 1_000_000; round += 1) sum = add(sum, round)
}
const isCompiled = () => %ActiveTierIsMaglev(add) || %ActiveTierIsTurbofan(add)
if (process.argv.includes("interpreted")) interpretFirst()
work()
const atFirst = isCompiled()
do {
  work()
  await new Promise((resolve) => setTimeout(resolve, 50))
} while (!isCompiled())
console.log(JSON.stringify({ atFirst, later: isCompiled() }))
`

const runBusy = (...args: ReadonlyArray<string>) => {
  const flags = ["--allow-natives-syntax", "--input-type=module", "--eval", BUSY, "--"]
  const { stderr, stdout } = spawnSync(process.execPath, [...flags, ...args], { encoding: "utf8" })
  assert.strictEqual(stderr, "")
  return JSON.parse(stdout)
}

it("V8 compiles nothing of a command at first, and does where the command goes on", () => {
  assert.deepStrictEqual(runBusy(), { atFirst: true, later: true })
  assert.deepStrictEqual(runBusy("interpreted"), { atFirst: false, later: true })
})
