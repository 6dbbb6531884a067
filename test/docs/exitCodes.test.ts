import { readFileSync } from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import { EXIT_CODES } from "@tocsin/server/CommandFailure"

const PAGE = "docs/command-line.md"

describe("exit codes", () => {
  it("have a row each that begins with the meaning in the help", () => {
    const rows = Array.from(
      readFileSync(PAGE, "utf8").matchAll(/^\| (\d+) \| (.+) \|$/gm),
      ([, code, meaning = ""]) => ({ code, meaning }),
    )
    const codes = Object.values(EXIT_CODES)
    assert.deepStrictEqual(
      rows.map(({ code }) => code),
      codes.map(({ code }) => String(code)),
    )
    for (const [index, { meaning }] of codes.entries()) {
      assert.isTrue(rows[index]?.meaning.startsWith(meaning), meaning)
    }
  })
})
