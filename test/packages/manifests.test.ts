import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, it } from "@effect/vitest"
import { agentManifest } from "../../scripts/build/agentPackage.ts"
import { publishedManifest } from "../../scripts/build/publishedManifest.ts"

const ROOT = join(import.meta.dirname, "../..")

it("both published packages name the addresses of the workspace, and where in it they are", () => {
  const root = mkdtempSync(join(tmpdir(), "tocsin-manifests-"))
  try {
    for (const name of ["tocsin", "agent", "testing"])
      cpSync(join(ROOT, "packages", name, "package.json"), join(root, "packages", name, "package.json"))
    const url = "git+https://git.example/tocsin.git"
    const pages = { homepage: "https://tocsin.example", bugs: "https://git.example/tocsin/issues" }
    const workspace: object = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"))
    writeFileSync(join(root, "package.json"), JSON.stringify({ ...workspace, repository: url, ...pages }))
    const addresses = (directory: string) => ({ repository: { type: "git", url, directory }, ...pages })
    assert.deepInclude(publishedManifest(root), addresses("packages/tocsin"))
    assert.deepInclude(agentManifest(root), addresses("packages/agent"))
  } finally {
    rmSync(root, { recursive: true })
  }
})
