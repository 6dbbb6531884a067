import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { spawnSync } from "node:child_process"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import folders from "../../scripts/lint/oneDirection.mjs"

/**
 * Files that break one rule each, laid out like the packages they stand for. Run from the root of
 * the repository.
 */
const fixtureFolder = "scripts/lint-fixtures"

const LintReport = Schema.fromJsonString(
  Schema.Struct({
    diagnostics: Schema.Array(
      Schema.Struct({
        filename: Schema.String,
        message: Schema.String,
        code: Schema.optional(Schema.String),
        help: Schema.optional(Schema.String),
      }),
    ),
  }),
)

/** The output of oxlint about the fixtures. */
function lintFixtures() {
  const args = ["node_modules/oxlint/bin/oxlint", "--format", "json", fixtureFolder]
  const { stdout } = spawnSync(process.execPath, args, { encoding: "utf8" })
  return Schema.decodeUnknownSync(LintReport)(stdout).diagnostics
}

describe("lint rules", () => {
  const diagnostics = lintFixtures()
  const fixtures = readdirSync(fixtureFolder, { recursive: true, encoding: "utf8" })
    .filter((path) => /\.tsx?$/.test(path))
    .map((path) => join(fixtureFolder, path))

  it.each(fixtures)("%s", (path) => {
    const expectation = readFileSync(path, "utf8").split("\n", 1)[0] ?? ""
    const found = diagnostics.filter(({ filename }) => filename === path)
    if (expectation === "// allowed") {
      assert.deepStrictEqual(found, [])
      return
    }
    const [, rule, reason = ""] = /^\/\/ refused: (\S+) (.+)$/.exec(expectation) ?? []
    assert.isDefined(rule, "the first line says `// allowed` or `// refused: <rule> <part of its reason>`")
    assert.deepStrictEqual(
      found.map(({ code = "oxlint" }) => code),
      [rule],
    )
    assert.include(found.map(({ help = "", message }) => `${message} ${help}`).join(), reason)
  })
})

it("an order of folders has each folder in one place, with its parts", () => {
  const read = (...order: ReadonlyArray<string>) =>
    folders.rules["one-direction"].create({
      filename: "/core/src/kernel/ports/Storage.ts",
      options: [{ order }],
    })
  read("model", "ports", "engine", "engine/lists", "usecases")
  assert.throws(() => read("engine", "model", "ports", "engine/lists"), /has engine in two places/)
  assert.throws(() => read("model", "engine/unitOfWork", "ports", "engine/lists"), /has engine in two places/)
  assert.throws(() => read("engine", "ports", "engine"), /has engine in two places/)
  assert.throws(
    () => read("kernel/engine/lists", "kernel/ports", "kernel/engine"),
    /has kernel\/engine in two places/,
  )
})

it("the README of the core has its folders in the order of the lint rule", () => {
  const { order } = /"tocsin\/one-direction": \[\s*"error",\s*\{\s*"order": \[(?<order>[^\]]*)\]/.exec(
    readFileSync(".oxlintrc.json", "utf8"),
  )?.groups ?? { order: "" }
  const tables = Array.from(
    readFileSync("packages/core/README.md", "utf8").matchAll(
      /\| folder of `src\/(kernel|heart)` \|[^\n]*\n\|[-|]+\n((?:\|[^\n]*\n)+)/g,
    ),
  )
  const listed = tables.flatMap(([, zone, rows = ""]) =>
    Array.from(rows.matchAll(/^\|([^|]+)\|/gm), ([, cell = ""]) => cell).flatMap((cell) =>
      Array.from(cell.matchAll(/`([^`]+)`/g), ([, folder]) => `${zone}/${folder}`),
    ),
  )
  const ruled = Array.from(order?.matchAll(/"([^"]+)"/g) ?? [], ([, folder = ""]) => folder)
  assert.deepStrictEqual(listed, ruled.slice(0, listed.length))
  assert.deepStrictEqual(ruled.slice(listed.length), ["features", "lists"])
})
