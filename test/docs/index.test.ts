import { readFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { pages } from "./CodeBlock.ts"

const INDEX = "docs/README.md"

/** A folder with a README lists its pages there. */
const isListedHere = (page: string): boolean => {
  const list = join(dirname(page), "README.md")
  return page === list || list === INDEX || !pages.includes(list)
}

describe("docs/README.md", () => {
  it("links once to every page of docs, or to the list of its folder", () => {
    const rows = Array.from(readFileSync(INDEX, "utf8").matchAll(/^\| \[[^\]]+\]\(([^)#]+)\) \| .+ \|$/gm))
    const targets = rows.map(([, target = ""]) => join("docs", target))
    assert.deepStrictEqual(new Set(targets).size, targets.length)
    const wanted = pages.filter((page) => page.startsWith("docs/") && page !== INDEX && isListedHere(page))
    assert.sameMembers(
      targets.filter((target) => target.startsWith("docs/")),
      wanted,
    )
  })
})
