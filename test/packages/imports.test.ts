import { spawnSync } from "node:child_process"
import { assert, describe, it } from "@effect/vitest"
import { AT_LENGTH } from "../properties/atLength.ts"

/**
 * Imports one entry in a separate process, as a Node.js without SQLite has it, and prints how many modules of each
 * package it loaded, and what comes of an expression.
 */
const program = (entry: string, expression: string) => `
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
  process.getBuiltinModule = () => undefined
  const imported = await import("${entry}")
  const loaded = { ...counts }
  process.stdout.write(JSON.stringify([loaded, ${expression}]))
`

const importing = (
  entry: string,
  expression = "null",
): readonly [Readonly<Record<string, number>>, unknown] => {
  const args = ["--input-type=module", "-e", program(entry, expression)]
  const { stdout, stderr } = spawnSync(process.execPath, args, { cwd: "test", encoding: "utf8" })
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

/** A monitor without SQLite, and the refusal of one with it. */
const MONITORS = `await (async () => {
  const { createMonitor, memory, sqlite } = imported
  await using monitor = await createMonitor({ storage: memory(), log: false })
  const refusal = await createMonitor({ storage: sqlite("x.db"), log: false }).catch((error) => error)
  return [await monitor.isReady(), refusal.code, refusal.message]
})()`

describe("importing", () => {
  const assertLoaded = (loaded: Readonly<Record<string, number>>, packages: ReadonlyArray<string>) => {
    assert.sameMembers(Object.keys(loaded), Array.from(new Set(packages)))
    // Of a storage, only the check whether this Node.js supports it.
    assert.isAtMost(loaded["adapter-sqlite"] ?? 0, 1)
  }

  it.each([
    ...(AT_LENGTH
      ? [
          [
            "tocsin/effect",
            [...OURS.filter((name) => name !== "adapter-sqlite"), ...OF_CLIENT, "node"],
          ] as const,
        ]
      : []),
    ["tocsin/client", OF_CLIENT] as const,
  ])(
    "%s loads the packages that it needs: no driver of a database, no server and no YAML",
    (entry, packages) => assertLoaded(importing(entry)[0], packages),
  )

  it("tocsin loads no more, works on Node.js without SQLite, and sqlite(file) reports what it needs", () => {
    const [loaded, monitors] = importing("tocsin", MONITORS)
    assertLoaded(loaded, [...OURS, ...OF_CLIENT, "node", "simulation"])
    assert.deepStrictEqual(monitors, [
      true,
      "options",
      `storage: sqlite(file) needs Node.js 24.22.1 or newer with SQLite 3.51.3, and this is ${process.version} with ${process.versions["sqlite"] ?? "none"}; update Node.js, or use another storage`,
    ])
  })
})
