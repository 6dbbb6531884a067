import { execFileSync } from "node:child_process"
import { existsSync } from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import manifest from "../../package.json" with { type: "json" }
import { blocksOf, pages } from "../docs/CodeBlock.ts"
import { lacking } from "../../scripts/programs.mjs"
import { skippedFor } from "@tocsin/testing/StorageUnderTest"

const commands = pages
  .filter((page) => page.startsWith("docs/install/"))
  .flatMap((page) => blocksOf(page).map((block) => [page, block.text] as const))

const pathsIn = (text: string): ReadonlyArray<string> =>
  Array.from(
    text.matchAll(/(?<![\w/.-])(?:\.\.\/)?(deploy\/[\w./-]+|compose[\w.]*\.yaml|scripts\/[\w./-]+)/g),
    ([, path = ""]) => path,
  )

describe("installation pages", () => {
  it("name existing files", () => {
    const named = commands.flatMap(([page, text]) => pathsIn(text).map((path) => [page, path] as const))
    assert.isAbove(named.length, 5)
    assert.deepStrictEqual(
      named.filter(([, path]) => !existsSync(path)),
      [],
    )
  })

  it("build this version first", () => {
    const tags = commands.flatMap(([, text]) =>
      Array.from(text.matchAll(/build --tag \S*tocsin:(\S+)/g), ([, tag = ""]) => tag),
    )
    assert.isAbove(tags.length, 2)
    assert.strictEqual(tags[0], manifest.version)
  })

  const withoutGit = lacking("git") ?? (existsSync(".git") ? undefined : "this is no clone")
  it.skipIf(withoutGit !== undefined)(`write secrets where git ignores them${skippedFor(withoutGit)}`, () => {
    // Ends with 1 where nothing ignores it. Another user may own the clone.
    const ignored = execFileSync(
      "git",
      ["-c", "safe.directory=*", "check-ignore", "secrets/auth_token", "tocsin.env"],
      {
        encoding: "utf8",
      },
    )
    assert.deepStrictEqual(ignored.trim().split("\n"), ["secrets/auth_token", "tocsin.env"])
  })
})
