import { execFileSync } from "node:child_process"
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { rolldown } from "rolldown"

const page = readFileSync("docs/bundling.md", "utf8")
/** The program of the page on bundling. */
const program = /```ts\n([^]*?)```/.exec(page)?.[1] ?? ""
/** The banner that the page has esbuild write before the bundle, which knows nothing of it. */
const banner = /--banner:js='([^']+)'/.exec(page)?.[1] ?? assert.fail("the page has no banner")

describe("a bundled program", () => {
  it.each([
    ["in several files", true, ""],
    ["in one", false, ""],
    ["minified, below the banner for esbuild", false, banner],
  ])("runs %s, away from its packages", async (_, codeSplitting, before) => {
    // In the repository, where `tocsin` resolves, and ignored by git; the bundle is elsewhere.
    mkdirSync("docs/dist", { recursive: true })
    const source = mkdtempSync(resolve("docs/dist/bundled-"))
    const target = mkdtempSync(join(tmpdir(), "tocsin-bundled-"))
    try {
      writeFileSync(join(source, "app.ts"), program)
      const made = await rolldown({ input: join(source, "app.ts"), platform: "node", onwarn: () => {} })
      const { output } = await made.write({
        dir: target,
        format: "esm",
        codeSplitting,
        minify: before !== "",
        entryFileNames: "app.mjs",
      })
      await made.close()
      assert.strictEqual(output.length > 1, codeSplitting)
      const written = join(target, "app.mjs")
      writeFileSync(written, `${before}\n${readFileSync(written, "utf8")}`)
      const printed = execFileSync(process.execPath, [written], {
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
