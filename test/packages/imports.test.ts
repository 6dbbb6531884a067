import { spawnSync } from "node:child_process"
import { assert, describe, it } from "@effect/vitest"
import { AT_LENGTH } from "../properties/atLength.ts"

/**
 * Imports one entry in a separate process and prints how many modules of each package it loaded.
 */
const program = (entry: string) => `
  import { registerHooks } from "node:module"
  const counts = {}
  registerHooks({
    load: (url, context, next) => {
      const name = url.startsWith("node:")
        ? "node"
        : (/.*\\/node_modules\\/((?:@[^/]+\\/)?[^/]+)/.exec(url)?.[1] ?? /\\/packages\\/([^/]+)/.exec(url)?.[1])
      counts[name] = (counts[name] ?? 0) + 1
      if (url === "node:sqlite") throw new Error("an older Node.js has none, and could not load the library")
      return next(url, context)
    },
  })
  await import("${entry}")
  process.stdout.write(JSON.stringify(counts))
`

const loadedBy = (entry: string): Readonly<Record<string, number>> => {
  const { stdout, stderr } = spawnSync(process.execPath, ["--input-type=module", "-e", program(entry)], {
    cwd: "test",
    encoding: "utf8",
  })
  return stdout === "" ? assert.fail(stderr) : JSON.parse(stdout)
}

const OURS = [
  "adapter-crypto",
  "adapter-http",
  "adapter-memory",
  "adapter-notify",
  "adapter-sqlite",
  "contract",
  "core",
]
const OF_CLIENT = ["client", "contract", "effect", "reporting", "tocsin"]

/** The packages that each entry loads, in a process that reads hundreds of sources. */
const entries = (
  [
    ["tocsin", [...OURS, ...OF_CLIENT, "node", "simulation"]],
    ["tocsin/effect", [...OURS.filter((name) => name !== "adapter-sqlite"), ...OF_CLIENT, "node"]],
    ["tocsin/client", OF_CLIENT],
  ] as const
).filter(([entry]) => AT_LENGTH || entry !== "tocsin/effect")

describe("importing", () => {
  it.each(entries)(
    "%s loads the packages that it needs: no driver of a database, no server and no YAML",
    (entry, packages) => {
      const loaded = loadedBy(entry)
      assert.sameMembers(Object.keys(loaded), Array.from(new Set(packages)))
      // Of a storage, only the check whether this Node.js supports it.
      assert.isAtMost(loaded["adapter-sqlite"] ?? 0, 1)
    },
  )

  it("works on Node.js without SQLite, and sqlite(file) reports what it needs", () => {
    const onOldNode = `
      process.getBuiltinModule = () => undefined
      const { createMonitor, memory, sqlite } = await import("tocsin")
      await using monitor = await createMonitor({ storage: memory(), log: false })
      const refusal = await createMonitor({ storage: sqlite("x.db"), log: false }).catch((error) => error)
      process.stdout.write(JSON.stringify([await monitor.isReady(), refusal.code, refusal.message]))
    `
    const { stdout, stderr } = spawnSync(process.execPath, ["--input-type=module", "-e", onOldNode], {
      cwd: "test",
      encoding: "utf8",
    })
    assert.deepStrictEqual(JSON.parse(stdout === "" ? assert.fail(stderr) : stdout), [
      true,
      "options",
      `storage: sqlite(file) needs Node.js 24.22.1 or newer with SQLite 3.51.3, and this is ${process.version} with ${process.versions["sqlite"] ?? "none"}; update Node.js, or use another storage`,
    ])
  })
})
