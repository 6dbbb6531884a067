import { spawn } from "node:child_process"
import { cpSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import process from "node:process"
import { assert, describe, it } from "@effect/vitest"
import { npmBefore, packagesFor } from "../../scripts/neededPackages.mjs"

const ROOT = join(import.meta.dirname, "../..")

/** Development needs `tool`, too. */
const SERVER = { "node_modules/server": { version: "1.3.0", integrity: "sha512-s" } }
const WHOLE = { ...SERVER, "node_modules/tool": { version: "2.0.0", integrity: "sha512-t", dev: true } }
const OLDER = { "node_modules/server": { version: "1.2.0", integrity: "sha512-r" } }

/** An npm that fetches for some seconds, and fails. */
const NPM = `
  import { mkdirSync, writeFileSync } from "node:fs"
  for (const name of ["server", "server/-/server-1.3.0.tgz"])
    console.error(\`npm http fetch GET 200 https://registry.example/\${name} 9ms (cache miss)\`)
  mkdirSync("node_modules/server", { recursive: true })
  writeFileSync("node_modules/server/package.json", " ".repeat(3_000_000))
  setTimeout(() => {
    console.error(\`npm error the disk is full for \${process.argv.slice(2).join(" ")}\`)
    process.exitCode = 1
  }, 5_500)`

describe("the first start", () => {
  it("fetches what a server needs, says how far npm is, and why it failed", async () => {
    const clone = mkdtempSync(join(tmpdir(), "tocsin-clone-"))
    try {
      for (const file of ["bootstrap.mjs", "installProgress.mjs", "neededPackages.mjs", "nodeFlags.json"])
        cpSync(join(ROOT, "scripts", file), join(clone, "scripts", file))
      writeFileSync(join(clone, "package-lock.json"), JSON.stringify({ packages: { "": {}, ...WHOLE } }))
      writeFileSync(join(clone, "npm.mjs"), NPM)
      const env = { ...process.env, npm_execpath: join(clone, "npm.mjs") }
      const child = spawn(process.execPath, [join(clone, "scripts/bootstrap.mjs"), "start"], { env })
      let shown = ""
      child.stderr.on("data", (chunk) => (shown += String(chunk)))
      const code = await new Promise((resolve) => child.on("close", resolve))
      assert.strictEqual(code, 1)
      assert.match(shown, /^npm: \d+ s, 2 files fetched, 1 of 1 packages unpacked, 3 MB on disk$/m)
      assert.match(shown, /^npm error the disk is full for ci --omit=dev .*\nThe dependencies could not/m)
      assert.notInclude(shown, "http fetch")
    } finally {
      rmSync(clone, { recursive: true })
    }
  }, 60_000)

  const { packages } = JSON.parse(readFileSync(join(ROOT, "package-lock.json"), "utf8"))
  const served = packagesFor(packages, false)

  it("fetches at most an eighth of all packages", () => {
    assert.isAtMost(served.length, packagesFor(packages, true).length / 8)
  })

  it("counts no package that only those of other platforms need", () => {
    const one = { version: "1.0.0", integrity: "sha512-o", optional: true }
    const lock = {
      "node_modules/bundler": { ...one, optionalDependencies: { here: "1", elsewhere: "1" } },
      "node_modules/here": { ...one, os: [process.platform], dependencies: { shared: "1" } },
      "node_modules/elsewhere": {
        ...one,
        os: ["none"],
        dependencies: { inner: "1", shared: "1", shim: "1" },
      },
      "node_modules/elsewhere/node_modules/inner": one,
      "node_modules/shared": one,
      "node_modules/shim": { ...one, dependencies: { words: "1" } },
      "node_modules/words": one,
    }
    const counted = ["node_modules/bundler", "node_modules/here", "node_modules/shared"]
    assert.deepStrictEqual(packagesFor(lock, false), counted)
  })

  it("fetches all that bundles the server and its console", () => {
    const scripts = ["startBundled", "bundle", "bundleProgram", "takenModules", "../packages/console/bundle"]
    const paths = [
      ...scripts.map((name) => join(ROOT, `scripts/${name}.mjs`)),
      ...globSync(join(ROOT, "packages/console/src/**/*.{ts,tsx}")),
    ]
    const names = paths.flatMap((path) =>
      Array.from(
        readFileSync(path, "utf8").matchAll(/ from "(?!\.|node:|@tocsin\/)((?:@[^/"]+\/)?[^/"]+)/g),
        ([, name]) => `node_modules/${name}`,
      ),
    )
    assert.includeMembers(names, ["node_modules/preact", "node_modules/rolldown", "node_modules/uplot"])
    assert.deepStrictEqual(
      names.filter((path) => !served.includes(path)),
      [],
    )
  })
})

describe("npm before a task", () => {
  it.each([
    ["installs a server without tools", "start", undefined, "ci --omit=dev"],
    ["installs all for development", "test", undefined, "ci --include=dev"],
    ["does nothing for a server without tools", "start", SERVER, undefined],
    ["does nothing for a server beside tools", "start", WHOLE, undefined],
    ["does nothing for an agent beside a server", "agent", SERVER, undefined],
    ["does nothing for development with tools", "test", WHOLE, undefined],
    ["adds tools beside a server", "test", SERVER, "install --no-save --include=dev"],
    ["replaces an older server", "start", OLDER, "ci --omit=dev"],
    ["replaces an older server and keeps tools", "start", { ...WHOLE, ...OLDER }, "ci --include=dev"],
    ["removes what is wanted no longer", "start", { ...SERVER, "node_modules/x": {} }, "ci --omit=dev"],
  ])("%s", (_, task, installed, expected) => {
    assert.strictEqual(npmBefore(task, WHOLE, installed)?.join(" "), expected)
  })
})
