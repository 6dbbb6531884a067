import { existsSync, readdirSync, readFileSync, statSync } from "node:fs"
import { dirname, join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { pages } from "./CodeBlock.ts"

/** A page without its code, in which nothing is a link. */
const proseOf = (page: string): string => readFileSync(page, "utf8").replaceAll(/^ *```[^]*?^ *```$/gm, "")

/**
 * As GitHub makes them: lower case, hyphens for spaces, nothing else but letters, digits, hyphens
 * and underscores.
 */
const anchorsOf = (page: string): ReadonlySet<string> =>
  new Set(
    Array.from(proseOf(page).matchAll(/^#+ (.+)$/gm), ([, heading = ""]) =>
      heading
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N} _-]/gu, "")
        .replaceAll(" ", "-"),
    ),
  )

/** Why a link of a page is broken; `undefined` if it works or leaves the repository. */
const faultOf = (page: string, link: string): string | undefined => {
  if (/^[a-z]+:/.test(link)) return undefined
  const [path = "", anchor] = link.split("#")
  const target = path === "" ? page : join(dirname(page), path)
  if (!existsSync(target)) return `${link}: there is no ${target}`
  if (anchor === undefined) return undefined
  return statSync(target).isFile() && anchorsOf(target).has(anchor) ? undefined : `${link}: no such heading`
}

/** Every text that is not a page. This file contains broken links on purpose. */
const sources = ["packages", "test", "bench", "scripts", "examples", "deploy"].flatMap((folder) =>
  readdirSync(folder, { recursive: true, encoding: "utf8" })
    .map((path) => join(folder, path))
    .filter((path) => /\.(?:ts|mjs|sh|yaml|yml)$/.test(path))
    .filter(
      (path) => !/(?:^|\/)(?:node_modules|dist|data)\//.test(path) && path !== "test/docs/links.test.ts",
    ),
)

/** A decision record by its number: its file. */
const recordOf = (link: string): string =>
  /^docs\/decisions\/\d{4}$/.test(link) ? (pages.find((page) => page.startsWith(`${link}-`)) ?? link) : link

const linksOf = (page: string): ReadonlyArray<string> =>
  Array.from(proseOf(page).matchAll(/\]\(([^)\s]+)\)/g), ([, link = ""]) => link)

/** The files and folders of the repository that a page names in code spans, but for patterns. */
const filesNamedBy = (page: string): ReadonlyArray<string> =>
  Array.from(proseOf(page).matchAll(/`((?:packages|test)\/[\w./-]+)`/g), ([, path = ""]) => path)

describe("links of pages", () => {
  it("are found", () => {
    assert.isAbove(pages.flatMap(linksOf).length, 50)
  })

  it.each(pages)("resolve: %s", (page) => {
    assert.deepStrictEqual(
      linksOf(page).flatMap((link) => faultOf(page, link) ?? []),
      [],
    )
  })

  it.each(pages.filter((page) => !page.startsWith("docs/decisions/")))("name existing files: %s", (page) => {
    assert.deepStrictEqual(
      filesNamedBy(page).filter((path) => !existsSync(path) && !existsSync(join(dirname(page), path))),
      [],
    )
  })

  it("lead from the list to every decision record", () => {
    const list = "docs/decisions/README.md"
    const targets = new Set(linksOf(list).map((link) => join(dirname(list), link)))
    const records = pages.filter((page) => page.startsWith("docs/decisions/") && page !== list)
    assert.deepStrictEqual(
      records.filter((page) => !targets.has(page)),
      [],
    )
  })

  it("resolve in comments and messages of the source", () => {
    const cited = /\b(docs\/[\w/.-]+\.md(?:#[\w-]+)?|docs\/decisions\/\d{4}\b(?!-))/g
    assert.deepStrictEqual(
      sources.flatMap((path) =>
        Array.from(readFileSync(path, "utf8").matchAll(cited), ([, link = ""]) => link)
          .flatMap((link) => faultOf("README.md", recordOf(link)) ?? [])
          .map((fault) => `${path}: ${fault}`),
      ),
      [],
    )
  })

  it("cite no document outside the repository", () => {
    assert.deepStrictEqual(
      sources.filter((path) => /decisions \u00a7|[(]contract, /.test(readFileSync(path, "utf8"))),
      [],
    )
  })

  it("are reported when they lead nowhere", () => {
    assert.match(faultOf("README.md", "docs/nowhere.md") ?? "", /there is no docs\/nowhere\.md/)
    assert.match(faultOf("README.md", "CONTRIBUTING.md#nothing") ?? "", /no such heading/)
    assert.isUndefined(faultOf("docs/client.md", "../README.md#four-ways-to-use-it"))
  })
})
