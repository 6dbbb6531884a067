import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, assert, describe, it } from "@effect/vitest"
import { fitsRange, peerWarning } from "../../src/extensions/peerWarning.ts"

const folder = mkdtempSync(join(tmpdir(), "tocsin-peers-"))
afterAll(() => rmSync(folder, { recursive: true }))

describe("the versions that the package of a module is made for", () => {
  it.each([
    ["^0.3.0", true],
    ["^0.2.0", false],
    ["^0.3.5", false],
    ["^0.3", true],
    ["^0", true],
    ["^1.0.0", false],
    ["~0.3.1", true],
    ["~0.2.1", false],
    ["0.3.x", true],
    ["0.3", true],
    ["0.3.3", false],
    ["=0.3.4", true],
    ["0.2.0 || ^0.3.0", true],
    [">=0.2.0 <0.4.0", true],
    [">=0.2.0 <0.3.0", false],
    [">=0.4", false],
    ["*", true],
    ["next", true],
  ])("%s: %s for 0.3.4", (range, fits) => {
    assert.strictEqual(fitsRange(range, "0.3.4"), fits)
  })

  it("are warned of, with both versions", () => {
    const at = (name: string, manifest: string) => {
      mkdirSync(join(folder, name))
      writeFileSync(join(folder, name, "main.mjs"), "")
      writeFileSync(join(folder, name, "package.json"), manifest)
      return peerWarning(join(folder, name, "main.mjs"), "0.3.0")
    }
    const [warning = ""] = at("old", JSON.stringify({ peerDependencies: { tocsin: "^0.2.0" } }))
    assert.match(
      warning,
      /^SERVICE_EXTENSIONS names .*main\.mjs, whose package is made for tocsin \^0\.2\.0, and this is 0\.3\.0/,
    )
    assert.deepStrictEqual(at("new", JSON.stringify({ peerDependencies: { tocsin: "^0.3.0" } })), [])
    assert.deepStrictEqual(
      [...at("none", "{}"), ...at("damaged", "{"), ...peerWarning("no-package", "0.3.0")],
      [],
    )
  })
})
