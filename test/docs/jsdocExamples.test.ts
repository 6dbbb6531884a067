import { execFile } from "node:child_process"
import { cpSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join, resolve } from "node:path"
import { promisify } from "node:util"
import { assert, describe, it } from "@effect/vitest"

const run = promisify(execFile)

/** The examples in the doc comments of a file, as programs. */
const examplesOf = (file: string): ReadonlyArray<string> =>
  Array.from(
    readFileSync(file, "utf8").matchAll(/@example[^\n]*\n\s*\* ```ts\n([^]*?)\n\s*\* ```/g),
    ([, block = ""]) => {
      const lines = block.split("\n").map((line) => line.replace(/^\s*\* ?/, ""))
      const imports = lines.filter((line) => line.startsWith("import "))
      const others = lines.filter((line) => !line.startsWith("import "))
      // In a function, an example may return, and replace a name of its surroundings.
      return [...imports, "export const example = async () => {", ...others, "}"].join("\n")
    },
  )

describe("the examples of doc comments", () => {
  it("compile in a strict program", async () => {
    // Ignored by git, and by the checks that may run at the same time.
    mkdirSync("docs/dist", { recursive: true })
    const folder = mkdtempSync(resolve("docs/dist/jsdoc-"))
    cpSync("test/docs/jsdoc", folder, { recursive: true })
    mkdirSync(join(folder, "written"))
    try {
      let count = 0
      for (const file of globSync("packages/{client,reporting,tocsin}/src/**/*.ts")) {
        for (const example of examplesOf(file))
          writeFileSync(join(folder, "written", `example${++count}.ts`), `// ${file}\n${example}\n`)
      }
      assert.isAbove(count, 25)
      const config = ["--pretty", "false", "--singleThreaded", "-p", folder]
      const { stdout } = await run("tsc", config).catch((error: { readonly stdout: string }) => error)
      assert.strictEqual(stdout, "")
    } finally {
      rmSync(folder, { recursive: true })
    }
  })
})
