import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"

const page = readFileSync("docs/threats.md", "utf8")

/** The links of the page to tests: the title that a link shows, and its file. */
const tests = Array.from(
  page.matchAll(/\[([^\]]+)\]\(\.\.\/([^)]+\.ts)\)/g),
  ([, title = "", path = ""]) => ({
    title,
    path: join(".", path),
  }),
)

const isThere = ({ title, path }: (typeof tests)[number]): boolean =>
  existsSync(path) && /\.test\.ts$|Suite\.ts$/.test(path) && readFileSync(path, "utf8").includes(title)

describe("docs/threats.md", () => {
  it("names only tests that exist", () => {
    assert.isAbove(tests.length, 60)
    assert.deepStrictEqual(
      tests.filter((test) => !isThere(test)),
      [],
    )
  })

  it("has a test for each threat, except those that it lists as open", () => {
    const [proven = ""] = page.split("## Open")
    const rows = proven.split("\n").filter((line) => line.startsWith("| ") && !line.startsWith("| threat |"))
    assert.isAbove(rows.length, 30)
    assert.deepStrictEqual(
      rows.filter((row) => !row.includes("](../")),
      [],
    )
  })
})
