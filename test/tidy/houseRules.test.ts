import { assert, describe, it } from "@effect/vitest"
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { basename, dirname, join, matchesGlob } from "node:path"
import { features } from "../../scripts/countHouse.mjs"

/** Generated files: those of .gitignore, and `.git`, which is a file in a worktree. */
const unwritten = new Set([".git", "node_modules", "dist", "data", "coverage"])

function filesUnder(folder: string): ReadonlyArray<string> {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    if (unwritten.has(entry.name)) return []
    const path = join(folder, entry.name)
    if (entry.isDirectory()) return filesUnder(path)
    return entry.isFile() && !/\.(log|tsbuildinfo)$/.test(entry.name) ? [path] : []
  })
}

const read = (path: string) => readFileSync(path, "utf8")

const files = filesUnder(".")
const packages = readdirSync("packages")
const sources = files.filter((path) => /^packages\/[^/]+\/src\/.+\.tsx?$/.test(path))
const inCore = (path: string) => path.startsWith("packages/core/")

/** The paths that break a rule, each with its reason. A failing test prints all of them. */
const offenders = (paths: ReadonlyArray<string>, fault: (path: string) => string | undefined) =>
  paths.flatMap((path) => {
    const found = fault(path)
    return found === undefined ? [] : [`${path}: ${found}`]
  })

describe("house rules", () => {
  it("cover the source files", () => {
    assert.isAbove(sources.length, 0)
    assert.isAbove(files.length, sources.length)
  })

  it("no plumbing names a record whose declaration says all (docs/decisions/0024)", () => {
    const declared = [
      /\b(replica|operator|silence|service_heartbeat)\b/,
      /\b(\w+Record)\b.*\/(Operator|Replica|ServiceHeartbeat|Silence)Record/,
    ]
    const plumbing = sources.filter((path) =>
      /(?:core\/src\/kernel\/unitOfWork\/(?!Search|RowRequest)|adapter-memory\/src\/(?:keyValue\/|IndexedRows|expire|transact)|adapter-(?:pg|sqlite)\/src\/(?:retention|transactions)\/(?!search))/.test(
        path,
      ),
    )
    assert.isAbove(plumbing.length, 15)
    assert.deepStrictEqual(
      offenders(plumbing, (path) => {
        const code = read(path).replaceAll(/^\s*(?:\/?\*|\/\/).*$/gm, "")
        return declared.map((name) => name.exec(code)?.[0]).find((found) => found !== undefined)
      }),
      [],
    )
  })

  it("certificates are read by getPeerX509Certificate (packages/contract/src/formats/nodeVersions.ts)", () => {
    assert.deepStrictEqual(
      offenders(sources, (path) => /\b(getPeerCertificate|toLegacyObject)\(/.exec(read(path))?.[1]),
      [],
    )
  })

  it("no file is named utils, helpers, common or manager", () => {
    const vague = /(?:^|[a-z/._-])(utils?|helpers?|common|managers?|misc)(?=[/.]|$)/i
    assert.deepStrictEqual(
      offenders(files, (path) => vague.exec(path)?.[1]),
      [],
    )
  })

  it("a source file is named as its main export, a migration by its number", () => {
    const named = /^(?:[A-Z][A-Za-z0-9]*|[a-z][A-Za-z0-9]*|\d{4}_[a-z0-9_]+)\.tsx?$/
    assert.deepStrictEqual(
      offenders(sources, (path) => (named.test(basename(path)) ? undefined : "name")),
      [],
    )
  })

  it("a source file has at most 300 lines", () => {
    const lines = (path: string) => read(path).trimEnd().split("\n").length
    assert.deepStrictEqual(
      offenders(sources, (path) => (lines(path) > 300 ? `${lines(path)} lines` : undefined)),
      [],
    )
  })

  it("the core has no try/catch: errors are values", () => {
    assert.deepStrictEqual(
      offenders(sources.filter(inCore), (path) => /\btry\s*\{/.exec(read(path))?.[0]),
      [],
    )
  })

  it("commands go to the storage through Commits, which reports them to its listeners", () => {
    const users = sources.filter((path) => !/^packages\/(testing|adapter-(sqlite|pg))\//.test(path))
    const door = "packages/core/src/kernel/engine/commits/"
    assert.deepStrictEqual(
      offenders(users, (path) =>
        !path.startsWith(door) && /\bstorage\.transact\(/i.test(read(path)) ? "storage.transact" : undefined,
      ),
      [],
    )
  })

  it("a generator function is made once, with its module, unless an effect runs it (docs/decisions/0030)", () => {
    const made = /=>\s*function\*|^ .*(?<!Effect\.(?:gen|fn|fnUntraced)\b.*\s*)function\*\s*[(<]/m
    assert.deepStrictEqual(
      offenders(
        sources.filter((path) => !path.startsWith("packages/testing/")),
        (path) => made.exec(read(path))?.[0],
      ),
      [],
    )
  })

  it("@effect/platform-node is imported by module: its barrel loads 648 modules of Redis and others", () => {
    assert.deepStrictEqual(
      offenders(
        files.filter((path) => /\.(tsx?|mjs|md)$/.test(path)),
        (path) => /(?:from|import\() ?"@effect\/platform-node(?:-shared)?"/.exec(read(path))?.[0],
      ),
      [],
    )
  })

  it("no comment and no name of a test begins with What, Whatever or Whoever: name the thing", () => {
    const comment = /(?:\/\*\*?\s*(?:\*\s+)?|(?<![:"'`\w/])\/\/\s*)(?:What|Whatever|Whoever)\b.*/
    const name = /\b(?:it|test|describe|layer)\b[^"`'\n]*\(\s*["`'](?:what|whatever|whoever)\b.*/i
    const written = files.filter((path) => /\.(?:tsx?|mjs)$/.test(path))
    assert.isAbove(written.length, sources.length)
    assert.deepStrictEqual(
      offenders(written, (path) => comment.exec(read(path))?.[0] ?? name.exec(read(path))?.[0]),
      [],
    )
  })

  it("a chain of promises that is not awaited takes its failure, which would end the process", () => {
    assert.deepStrictEqual(
      offenders(sources, (path) =>
        Array.from(read(path).matchAll(/\bvoid [^\n;]*\.(?:then|finally)\([^\n]+/g), ([found]) => found).find(
          (found) => !/\.catch\(/.test(found),
        ),
      ),
      [],
    )
  })

  it("the pages have at most 12,000 lines together: say each thing once, and link to it", () => {
    const pages = files.filter((path) => /^docs\/.+\.md$/.test(path))
    const lines = pages.reduce((sum, path) => sum + read(path).trimEnd().split("\n").length, 0)
    assert.isAbove(lines, 0)
    assert.isAtMost(lines, 12_000)
  })

  it("no text names a registry or a path of one machine", () => {
    const registries = ["npmjs.org", "yarnpkg.com", "npmmirror.com"].map((host) => `registry.${host}`)
    const paths = /(?<![A-Za-z0-9_.])\/(?:work|farm|Users)\//
    assert.deepStrictEqual(
      offenders(files, (path) => {
        const text = read(path)
        return registries.find((host) => text.includes(host)) ?? paths.exec(text)?.[0]
      }),
      [],
    )
  })

  it("a decision record has its date in the list of records, and fits on a page", () => {
    const records = files.filter((path) => /^docs\/decisions\/\d{4}-/.test(path))
    const list = read("docs/decisions/README.md")
    const isDated = (path: string) =>
      new RegExp(`^\\| \\[\\d{4}\\]\\(${basename(path)}\\) \\| \\d{4}-\\d\\d-\\d\\d \\| `, "m").test(list)
    assert.isAbove(records.length, 0)
    assert.deepStrictEqual(
      offenders(records, (path) => (isDated(path) ? undefined : "no row with its date")),
      [],
    )
    assert.deepStrictEqual(
      offenders(records, (path) => (read(path).split("\n").length > 75 ? "more than a page" : undefined)),
      [],
    )
  })

  it("tests of a package mirror its source, and every other folder of tests is on CONTRIBUTING's map", () => {
    const folders = new Set(files.map((path) => dirname(path)))
    const ofPackages = Array.from(folders).filter((path) => /^packages\/[^/]+\/test\//.test(path))
    assert.deepStrictEqual(
      offenders(ofPackages, (path) => {
        const source = path.replace("/test/", "/src/")
        return existsSync(source) ? undefined : `there is no ${source}`
      }),
      [],
    )
    const map = read("CONTRIBUTING.md")
    const subjects = readdirSync("test", { withFileTypes: true }).filter((entry) => entry.isDirectory())
    assert.deepStrictEqual(
      subjects.filter(({ name }) => !map.includes(`\`test/${name}\``)).map(({ name }) => name),
      [],
    )
  })

  it("CONTRIBUTING names the features that scripts/countHouse.mjs counts, in its order", () => {
    const [, table = ""] = read("CONTRIBUTING.md").split("### Features and their names")
    const [rows = ""] = table.split("\n### ")
    assert.deepStrictEqual(
      Array.from(rows.matchAll(/^\| `(\w+)` \|/gm), ([, word]) => word),
      features.map(({ word }) => word),
    )
  })

  it("PROPERTY_RUNS multiplies the runs of every property", () => {
    assert.deepStrictEqual(
      offenders(
        files.filter((path) => /^test\/.+\.test\.ts$/.test(path)),
        (path) => /\barbitrary\b.*\bruns: \d+/.exec(read(path))?.[0],
      ),
      [],
    )
  })

  it("package-lock.json leaves the choice of registry to npm", () => {
    assert.notMatch(read("package-lock.json"), /"resolved": "https?:/)
  })
})

/** The packages of ours that a package may depend on; `server`, `tocsin` and `testing` see several adapters. */
const ARROWS: Readonly<Record<string, ReadonlyArray<string>>> = {
  contract: [],
  core: ["contract"],
  reporting: ["contract"],
  client: ["contract", "reporting"],
  simulation: ["adapter-crypto", "adapter-memory", "contract", "core"],
  console: [],
  agent: [],
}

describe("packages", () => {
  it.each(packages)("%s depends on what its place in the hexagon allows", (name) => {
    const manifest: { dependencies?: Record<string, string> } = JSON.parse(
      read(`packages/${name}/package.json`),
    )
    const dependencies = Object.keys(manifest.dependencies ?? {})
    const ours = dependencies.filter((dependency) => dependency.startsWith("@tocsin/")).toSorted()
    const allowed = name.startsWith("adapter-") ? ["contract", "core"] : ARROWS[name]
    if (allowed !== undefined)
      assert.deepStrictEqual(
        ours,
        allowed.map((other) => `@tocsin/${other}`),
      )
    if (name === "core" || name === "contract" || name === "reporting")
      assert.deepStrictEqual(
        dependencies.filter((dependency) => !ours.includes(dependency)),
        name === "reporting" ? [] : ["effect"],
      )
    assert.notInclude(ours, "@tocsin/test")
  })

  it.each(packages)("the README of %s lists every folder of its source", (name) => {
    const page = read(`packages/${name}/README.md`)
    const foldersOf = (path: string) =>
      readdirSync(path, { withFileTypes: true }).filter((entry) => entry.isDirectory())
    const root = `packages/${name}/src`
    const folders = foldersOf(root).flatMap((folder) => [
      folder,
      ...(name === "core" ? foldersOf(join(root, folder.name)) : []),
    ])
    assert.deepStrictEqual(
      folders.filter((folder) => !page.includes(`\`${folder.name}\``)).map((folder) => folder.name),
      [],
    )
  })

  it.each(packages)("%s is type-checked", (name) => {
    const projects = Array.from(read("tsconfig.json").matchAll(/"path": "([^"]+)"/g), ([, path = ""]) => path)
    const included = projects.flatMap((path) => {
      const file = path.endsWith(".json") ? path : join(path, "tsconfig.json")
      const [, include = ""] = /"include": \[([^\]]+)\]/.exec(read(file)) ?? []
      return Array.from(include.matchAll(/"([^"]+)"/g), ([, pattern = ""]) => join(dirname(file), pattern))
    })
    assert.isTrue(included.some((pattern) => matchesGlob(`packages/${name}/src`, pattern)))
  })
})
