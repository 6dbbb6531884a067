import { readPolicyText } from "@tocsin/adapter-http/policy/readPolicyText"
import { NotifierKind } from "@tocsin/contract/formats/Status"
import { execFileSync } from "node:child_process"
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { scriptOf } from "@tocsin/adapter-pg/client/PgPoolOptions"
import { Effect, Result } from "effect"
import { SqlClient } from "effect/sql"
import { migratedPostgres } from "./migratedPostgres.ts"
import { blockRules, ruleOf } from "./blockRules.ts"
import { bundlePackages } from "./bundledPackages.ts"
import { blocksOf, type CodeBlock, pages, placeOf } from "./CodeBlock.ts"
import { isModule, type Modules, removeModules, typeErrorsIn, writeModules } from "./Modules.ts"
import { carryOutQuarters } from "./carryOutQuarters.ts"
import { writeExamples } from "./docExamples.ts"
import { obstacleTo } from "./PageSession.ts"
import { pageSettings } from "./pageSettings.ts"
import { walkPage } from "./walkPage.ts"
import { skippedFor } from "@tocsin/testing/StorageUnderTest"
import { lacking } from "../../scripts/programs.mjs"

const blocks = pages.flatMap(blocksOf)
const read = (path: string) => readFileSync(path, "utf8")

/** Blocks of one language and mark, as rows of a table of tests; there may be none. */
const those = (language: string, mark?: string): ReadonlyArray<readonly [place: string, block: CodeBlock]> =>
  blocks
    .filter((block) => block.language === language && ruleOf(block)?.mark === mark)
    .map((block) => [placeOf(block), block])

/**
 * The test that runs an example file, and the name it uses. Pages may show parts of these files
 * only.
 */
const RUN_BY: Readonly<Record<string, readonly [test: string, name: string]>> = {
  "examples/custom-notifier/pager.ts": ["examples/custom-notifier/pager.test.ts", "./pager.ts"],
  "examples/custom-storage/logFile.test.ts": [
    "test/packages/stranger/vitest.config.js",
    "examples/custom-*/*.test.ts",
  ],
  "examples/reporting/shop.ts": ["test/library/examples.test.ts", "examples/reporting/shop.ts"],
  "examples/express/app.ts": ["test/library/examples.test.ts", "examples/express/app.ts"],
  "examples/fastify/app.ts": ["test/library/hosts.test.ts", "@tocsin/examples/fastify/app"],
  "examples/hono/app.ts": ["test/library/hosts.test.ts", "@tocsin/examples/hono/app"],
  "examples/testing-an-agent/agent.test.ts": [
    "test/library/examples.test.ts",
    "examples/testing-an-agent/agent.test.ts",
  ],
  "test/examples/shellAgent.ts": ["test/examples/agentSuite.test.ts", "./shellAgent.ts"],
}

/** The JSON documents of a text, in order. Throws if the last one is invalid. */
const documentsOf = (text: string): ReadonlyArray<unknown> => {
  const documents: Array<unknown> = []
  let pending = ""
  for (const line of text.trim().split("\n")) {
    pending += line
    const document = Result.try(() => JSON.parse(pending))
    if (Result.isFailure(document)) continue
    documents.push(document.success)
    pending = ""
  }
  if (pending !== "") JSON.parse(pending)
  return documents
}

const isRun = (file: string): boolean => {
  if (file.endsWith(".test.ts")) return true
  const [test, name] = RUN_BY[file] ?? []
  return test !== undefined && name !== undefined && read(test).includes(name)
}

/** As much of Mermaid's grammar as the pages use, a line at a time. */
const drawings: ReadonlyMap<string, RegExp> = new Map([
  ["stateDiagram-v2", /^ {2}(direction (LR|TB)|(\[\*\]|[a-z_]+) --> (\[\*\]|[a-z_]+): [a-z][a-z ,]*)$/],
  [
    "flowchart TD",
    /^ {2}[a-z]+ (-- [a-z, ]+ )?--> [a-z]+(\[[\w/:, ]+\]|\{"[\w/:,? ]+"\})?$|^ {2}[a-z]+\[[\w ]+\] --> [a-z]+\{"[\w/:,? ]+"\}$/,
  ],
  ["flowchart LR", /^ {2}[a-z]+(\[[\w:,\- ]+\])? --> [a-z]+(\[[\w:,\- ]+\])?$/],
  ["sequenceDiagram", /^ {2}(participant [A-Z][a-z]+|[A-Z][a-z]+->>[A-Z][a-z]+: [\w/():,\- ]+)$/],
])

describe("code blocks of pages", () => {
  it("are found", () => {
    assert.isAbove(blocks.length, 50)
  })

  it("are all of a known kind: add a rule to test/docs/blockRules.ts, with its test", () => {
    const unknown = blocks.filter((block) => ruleOf(block) === undefined).map(placeOf)
    assert.deepStrictEqual(unknown, [])
  })

  it("have a reason when they are not simply run", () => {
    const unexplained = blockRules.filter(({ by, because }) => by === "test" && because === undefined)
    assert.deepStrictEqual(
      unexplained.map(({ language }) => language),
      ["sql"],
    )
  })

  it("are run on pages with known settings: add them to test/docs/pageSettings.ts", () => {
    const homeless = blocks.filter(
      (block) => ruleOf(block)?.by === "session" && !(block.page in pageSettings),
    )
    assert.deepStrictEqual(homeless.map(placeOf), [])
  })

  it("show the output of the block before them, or have a test", () => {
    const documentation = read("packages/adapter-notify/test/documentation.test.ts")
    const unfounded = blocks.filter((block, at) => {
      const rule = ruleOf(block)
      if (rule?.by !== "shown" || rule.mark === "log") return false
      if (block.example !== undefined) return !documentation.includes(`"${block.example}"`)
      const before = blocks[at - 1]
      return before?.page !== block.page || ruleOf(before)?.by !== "session"
    })
    assert.deepStrictEqual(unfounded.map(placeOf), [])
  })

  it.each(those("json"))("is JSON: %s", (_, block) => {
    assert.isAbove(documentsOf(block.text).length, 0)
  })

  it.each(blocks.filter(({ marks }) => marks.has("of")).map((block) => [placeOf(block), block] as const))(
    "is part of a file that a test runs: %s",
    (_, block) => {
      const file = block.marks.get("of") ?? ""
      assert.isTrue(existsSync(file), `${file} is not there`)
      assert.include(read(file), block.text, `${file} does not hold this, letter for letter`)
      assert.isTrue(isRun(file), `no test runs ${file}: name it in RUN_BY`)
    },
  )

  it.each(those("sh", "scripts"))("names existing scripts: %s", (_, { text }) => {
    const { scripts }: { scripts: Record<string, string> } = JSON.parse(read("package.json"))
    const named = Array.from(text.matchAll(/^npm (?:run )?([a-z]+)/gm), ([, name = ""]) => name)
    assert.lengthOf(named, text.trim().split("\n").length)
    assert.includeMembers(Object.keys(scripts), named)
  })

  it.each(those("sh", "elsewhere"))("is parsed by a shell: %s", (_, { text }) => {
    execFileSync("sh", ["-n"], { input: text })
  })

  it.each(those("text", "folders"))("lists existing folders: %s", (_, { text }) => {
    const folders = text.split("\n").flatMap((line) => /^[a-z][\w/-]*/.exec(line)?.[0] ?? [])
    assert.isAbove(folders.length, 0)
    assert.deepStrictEqual(
      folders.filter((folder) => !existsSync(folder)),
      [],
    )
  })

  it.each(those("yaml", "policy"))("is a valid policy: %s", (_, { text }) => {
    assert.deepStrictEqual(
      readPolicyText(text, { notifiers: NotifierKind.literals, keepsNotifiers: false })._tag,
      "Success",
      text,
    )
  })

  it.each([...those("nginx"), ...those("caddyfile")])("is given to a proxy: %s", (_, { page }) => {
    const tests = ["proxies", "gate"].map((name) => read(`test/proxies/${name}.test.ts`))
    assert.isTrue(tests.some((text) => text.includes(page)))
  })

  it.each(those("md"))("has a badge of a line: %s", (_, { text }) => {
    assert.match(
      text.trim(),
      /^\[!\[[^\]]+\]\(https:\/\/[a-z.]+\/[a-z-]+\/[a-z-]+\.svg\)\]\(https:\/\/[a-z.]+\)$/,
    )
  })

  it.each(those("mermaid"))("can be drawn: %s", (_, { text }) => {
    const [kind = "", ...lines] = text.trim().split("\n")
    const grammar = drawings.get(kind)
    assert.isDefined(grammar, kind)
    for (const line of lines) assert.match(line, grammar ?? /^$/)
  })
})

describe("programs of pages", { concurrent: true }, () => {
  let modules: Modules
  beforeAll(async () => {
    const written = writeModules(blocks)
    const start = await bundlePackages(join(written.folder, ".packages"), blocks.filter(isModule))
    modules = { ...written, start }
  })
  afterAll(() => removeModules(modules))

  it("type-check, with the examples of doc comments", async () => {
    assert.isAbove(writeExamples(modules), 25)
    assert.isAbove(blocks.filter(isModule).length, 5)
    assert.strictEqual(await typeErrorsIn(modules), "")
  })

  for (const [page, setting] of Object.entries(pageSettings)) {
    const texts = blocks.filter((block) => block.page === page).map(({ text }) => text)
    const withoutProgram =
      (texts.some((text) => /\bcurl\b/.test(text)) ? lacking("curl") : undefined) ??
      (texts.some((text) => /\bopenssl\b/.test(text)) ? lacking("openssl") : undefined)
    const obstacle = obstacleTo(setting) ?? withoutProgram
    const name = `${page} does what it shows${skippedFor(obstacle)}`
    it.live.skipIf(obstacle !== undefined)(name, () =>
      Effect.gen(function* () {
        assert.isAbove(yield* walkPage(page, setting, modules), 0)
      }),
    )
  }
})

describe("SQL of pages", () => {
  const run = (text: string) => Effect.flatMap(SqlClient.SqlClient, (sql) => sql.unsafe(scriptOf(text)))
  const runAndTakeBack = (text: string) =>
    Effect.flatMap(SqlClient.SqlClient, (sql) =>
      Effect.flip(sql.withTransaction(Effect.andThen(run(text), Effect.fail("taken back" as const)))),
    )

  it.live.each(those("sql"))("runs: %s", ([, { text }]) => Effect.provide(run(text), migratedPostgres))

  it.live.each(those("sql", "role"))("runs for the current role, and is rolled back: %s", ([, { text }]) => {
    const own = text.replaceAll("ALTER ROLE tocsin ", "ALTER ROLE CURRENT_USER ")
    assert.notStrictEqual(own, text)
    return Effect.gen(function* () {
      assert.strictEqual(yield* runAndTakeBack(own), "taken back")
    }).pipe(Effect.provide(migratedPostgres))
  })

  it.live.each(those("sql", "quarters"))("runs with its bounds, which are right: %s", ([, { text }]) =>
    Effect.provide(carryOutQuarters(text), migratedPostgres),
  )
})
