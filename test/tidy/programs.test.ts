import { assert, describe, it } from "@effect/vitest"
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import process from "node:process"
import { lacking, programPath, programs } from "../../scripts/programs.mjs"

const tests = globSync(["test/**/*.ts", "packages/*/test/**/*.ts", "bench/test/**/*.ts"], {
  exclude: (path) => path.includes("node_modules"),
}).filter((path) => path !== "test/tidy/programs.test.ts")

const textOf = (path: string): string => readFileSync(path, "utf8")

/** The programs that a file asks for. */
const askedIn = (path: string): ReadonlySet<string> =>
  new Set(
    Array.from(textOf(path).matchAll(/\b(?:lacking|programPath)\(([^()]*)\)/g), ([, args = ""]) =>
      Array.from(args.matchAll(/"([^"]+)"/g), ([, name = ""]) => name),
    ).flat(),
  )

const listed: ReadonlyArray<readonly [string, { readonly tests: ReadonlyArray<string> }]> =
  Object.entries(programs)

describe("the list of the programs that tests look for", () => {
  it("names for each the files that ask for it", () => {
    assert.isAbove(tests.length, 500)
    const asked = tests.flatMap((path) => Array.from(askedIn(path), (name) => `${path}: ${name}`))
    const stated = listed.flatMap(([name, { tests: files }]) => files.map((path) => `${path}: ${name}`))
    assert.deepStrictEqual(stated.toSorted(), asked.toSorted())
  })

  it("has each program that a test looks for: no test looks by itself", () => {
    const look = [
      // The same program would be installed, and not found, or found, and not installed.
      /spawnSync\([^()]*\[?"(?:--version|-v|-V|version)"\]?[^()]*\)\s*\.(?:error|status)/,
      /existsSync\((?:"|`|[A-Z_]+\b.*)\/usr\//,
    ]
    const faults = tests.flatMap((path) =>
      look.flatMap((how) => {
        const found = how.exec(textOf(path))?.[0]
        return found === undefined ? [] : [`${path}: ${found}`]
      }),
    )
    assert.deepStrictEqual(faults, [])
  })

  it("finds a program on PATH, beside it for administrators, and by its variable; says what to install", () => {
    const folder = mkdtempSync(join(tmpdir(), "tocsin-programs-"))
    const before = process.env
    const program = join(folder, "pgbouncer")
    try {
      process.env = { ...before, PATH: folder, PGBOUNCER: "no-such-pgbouncer" }
      assert.match(lacking("pgbouncer") ?? "", /^pgbouncer is missing: install pgbouncer$/)
      delete process.env["PGBOUNCER"]
      writeFileSync(program, "", { mode: 0o755 })
      assert.strictEqual(programPath("pgbouncer"), program)
      assert.isUndefined(lacking("pgbouncer"))
      process.env["PGBOUNCER"] = "/opt/pgbouncer"
      assert.strictEqual(programPath("pgbouncer"), "/opt/pgbouncer")
    } finally {
      process.env = before
      rmSync(folder, { recursive: true })
    }
  })
})
