import { readFileSync } from "node:fs"
import { describe, expect, it } from "vitest"
import { stateTablesPage, subjects } from "./stateTablesPage.ts"

describe("the page of the state tables", () => {
  it.each(subjects)("has every move of $title", ({ rows, title }) => {
    const section = stateTablesPage().split(`\n## ${title}\n`)[1]?.split("\n## ")[0] ?? ""
    const lines = section.split("\n")
    for (const { condition, effects, from, to, trigger } of rows) {
      const cells = `| ${trigger.replaceAll("_", " ")} | ${condition} | ${to} | ${effects} |`
      const froms = lines
        .filter((line) => line.endsWith(cells))
        .map((line) => line.slice(2, -cells.length - 1))
      expect(froms.flatMap((names) => names.split(", "))).toContain(from)
    }
  })

  it("is drawn from files that docs/rules-map.md lists", () => {
    const map = readFileSync("docs/rules-map.md", "utf8")
    expect(subjects.filter(({ file }) => !map.includes(`(../${file})`))).toEqual([])
  })
})
