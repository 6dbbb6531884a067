import { execFileSync } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { rolldown } from "rolldown"

/** The program of the page on bundling. */
const program = /```ts\n([^]*?)```/.exec(readFileSync("docs/bundling.md", "utf8"))?.[1] ?? ""

describe("a bundled program", () => {
  it.each([
    ["in several files", true],
    ["in one", false],
  ])("runs %s, away from its packages", async (_, codeSplitting) => {
    // Beside the tests, where `tocsin` resolves; the bundle is elsewhere.
    const source = mkdtempSync(resolve("test/bundled-"))
    const target = mkdtempSync(join(tmpdir(), "tocsin-bundled-"))
    try {
      writeFileSync(join(source, "app.ts"), program)
      const made = await rolldown({ input: join(source, "app.ts"), platform: "node", onwarn: () => {} })
      const { output } = await made.write({
        dir: target,
        format: "esm",
        codeSplitting,
        entryFileNames: "app.mjs",
      })
      await made.close()
      assert.strictEqual(output.length > 1, codeSplitting)
      const printed = execFileSync(process.execPath, [join(target, "app.mjs")], {
        cwd: target,
        encoding: "utf8",
      })
      assert.strictEqual(printed, "true\n")
    } finally {
      rmSync(source, { recursive: true })
      rmSync(target, { recursive: true })
    }
  })
})
