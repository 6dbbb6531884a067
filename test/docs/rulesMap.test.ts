import { readdirSync, readFileSync } from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import { copiedTables } from "@tocsin/core/lists/StoredTables"

const map = readFileSync("docs/rules-map.md", "utf8")
const [decided = "", stored = ""] = map.split("\n## Stored\n")

const subjectsOf = (part: string): ReadonlyArray<string> =>
  Array.from(part.matchAll(/^\| ([a-z ]+) \|/gm), ([, subject = ""]) => subject).slice(1)

/** Folders of the core that decide nothing themselves. */
const WITHOUT_DECISIONS: ReadonlySet<string> = new Set([
  "heart/model",
  "heart/usecases",
  "kernel/engine",
  "kernel/model",
  "kernel/ports",
  "kernel/schema",
  "kernel/unitOfWork",
])

describe("docs/rules-map.md", () => {
  it("leads to every folder of decisions", () => {
    const folders = ["kernel", "heart", "features"]
      .flatMap((zone) => readdirSync(`packages/core/src/${zone}`).map((folder) => `${zone}/${folder}`))
      .filter((folder) => !WITHOUT_DECISIONS.has(folder))
    assert.isAbove(folders.length, 10)
    assert.deepStrictEqual(
      folders.filter((folder) => !decided.includes(`](../packages/core/src/${folder}/`)),
      [],
    )
  })

  it("names what its files contain", () => {
    const named = Array.from(map.matchAll(/\[([a-z]+[A-Z]\w*)\]\(\.\.\/([^)]+\.ts)\)/g))
    assert.isAbove(named.length, 50)
    assert.deepStrictEqual(
      named
        .filter(
          ([, name = "", path = ""]) =>
            !path.includes(`/${name}.`) && !readFileSync(path, "utf8").includes(name),
        )
        .map(([link]) => link),
      [],
    )
  })

  it("names every stored table", () => {
    assert.deepStrictEqual(
      copiedTables.map(({ name }) => name).filter((name) => !stored.includes(`\`${name}\``)),
      [],
    )
  })

  it("says where each stored subject is decided", () => {
    assert.isAbove(subjectsOf(stored).length, 10)
    assert.includeMembers([...subjectsOf(decided)], [...subjectsOf(stored)])
  })
})
