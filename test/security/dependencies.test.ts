import { globSync, readFileSync } from "node:fs"
import { assert, describe, it } from "@effect/vitest"

interface Manifest {
  readonly name: string
  readonly dependencies?: Readonly<Record<string, string>>
}

interface LockedPackage {
  readonly integrity?: string
  readonly link?: boolean
}

const read = <A>(path: string): A => JSON.parse(readFileSync(path, "utf8")) as A

const manifests = globSync("packages/*/package.json").map((path) => read<Manifest>(path))

/** The programs in a server, beyond the packages of this repository. */
const foreign = manifests
  .filter(({ name }) => name !== "@tocsin/testing")
  .flatMap(({ dependencies = {} }) => Object.entries(dependencies))
  .filter(([name]) => name !== "tocsin" && !name.startsWith("@tocsin/"))

describe("dependencies", () => {
  it("are all listed in docs/security.md", () => {
    const names = Array.from(new Set(foreign.map(([name]) => name))).toSorted()
    const page = readFileSync("docs/security.md", "utf8")
    assert.isAbove(names.length, 0)
    assert.deepStrictEqual(
      names.filter((name) => !page.includes(`\`${name}\``)),
      [],
    )
  })

  it("have exact versions", () => {
    assert.deepStrictEqual(
      foreign.filter(([, version]) => !/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version)),
      [],
    )
  })

  it("are locked with a SHA-512 each", () => {
    const { packages } = read<{ packages: Record<string, LockedPackage> }>("package-lock.json")
    const installed = Object.entries(packages).filter(
      ([path, { link = false }]) => path.includes("node_modules/") && !link,
    )
    assert.isAbove(installed.length, 100)
    assert.deepStrictEqual(
      installed.flatMap(([path, { integrity = "" }]) => (integrity.startsWith("sha512-") ? [] : [path])),
      [],
    )
  })
})
