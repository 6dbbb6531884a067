import { chmodSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { afterAll, beforeAll } from "@effect/vitest"
import { rolldown } from "rolldown"

/**
 * The path of `writer.ts` as one file, for the tests of the file that calls this: of its many small ones, each process
 * would load a thousand.
 */
export const bundledWriter = (): string => {
  const folder = mkdtempSync(join(tmpdir(), "tocsin-writer-"))
  const writer = join(folder, "writer.mjs")
  beforeAll(async () => {
    const input = fileURLToPath(new URL("./writer.ts", import.meta.url))
    const program = await rolldown({ input, platform: "node", onwarn: () => {} })
    await program.write({ file: writer, codeSplitting: false })
    // Other users run it, too.
    chmodSync(folder, 0o755)
  })
  afterAll(() => rmSync(folder, { recursive: true }))
  return writer
}
