import { spawn } from "node:child_process"
import { cpSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import process from "node:process"
import { assert, it } from "@effect/vitest"

const ROOT = join(import.meta.dirname, "../..")

/** An npm that fetches for some seconds, and fails. */
const NPM = `
  for (const name of ["left-pad-1.3.0", "right-pad-1.0.1"])
    console.error(\`npm http fetch GET 200 https://registry.example/\${name.slice(0, -6)}/-/\${name}.tgz 9ms (cache miss)\`)
  setTimeout(() => {
    console.error("npm error the disk is full")
    process.exitCode = 1
  }, 5_500)`

it("the first start says what npm fetches, and why it failed", async () => {
  const clone = mkdtempSync(join(tmpdir(), "tocsin-clone-"))
  try {
    for (const file of ["bootstrap.mjs", "nodeFlags.json"])
      cpSync(join(ROOT, "scripts", file), join(clone, "scripts", file))
    const packages = { "": {}, "node_modules/left-pad": { version: "1.3.0" } }
    writeFileSync(join(clone, "package-lock.json"), JSON.stringify({ packages }))
    writeFileSync(join(clone, "npm.mjs"), NPM)
    const env = { ...process.env, npm_execpath: join(clone, "npm.mjs") }
    const child = spawn(process.execPath, [join(clone, "scripts/bootstrap.mjs"), "start"], { env })
    let shown = ""
    child.stderr.on("data", (chunk) => (shown += String(chunk)))
    const code = await new Promise((resolve) => child.on("close", resolve))
    assert.strictEqual(code, 1)
    assert.match(shown, /^npm ci: \d+ s, 2 packages fetched, the latest right-pad-1.0.1.tgz$/m)
    assert.match(shown, /^npm error the disk is full\nThe dependencies could not be installed/m)
    assert.notInclude(shown, "http fetch")
  } finally {
    rmSync(clone, { recursive: true })
  }
}, 60_000)
