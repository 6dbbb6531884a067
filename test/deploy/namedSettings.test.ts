import { globSync, readFileSync } from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import { readSettings, type SettingProblem } from "@tocsin/server/settings/checkedSettings"
import { definitions } from "@tocsin/server/settings/Settings"
import { manifestsOf } from "./manifests.ts"
import { readImage } from "./readImage.ts"
import { environmentOf, readUnit } from "./UnitFile.ts"
import { at, documentsOf, entriesAt, listAt } from "./YamlFile.ts"

const files = [
  "Dockerfile",
  ...globSync("compose*.yaml"),
  ...globSync("deploy/**/*.*").filter((file) => /\.(md|yaml|yml|env|service|conf|sh|mjs)$/.test(file)),
  ...globSync("docs/install/*.md"),
].toSorted()

const known = new Set(
  Object.entries(definitions).flatMap(([name, setting]) =>
    "isSecret" in setting ? [name, `${name}_FILE`] : [name],
  ),
)

const namesIn = (text: string): ReadonlyArray<string> =>
  Array.from(text.matchAll(/(?<![\w$])(SERVICE_[A-Z_]+|DATABASE_URL(?:_FILE)?)\b/g), ([, name = ""]) => name)

/** The variables of a file with a `NAME=value` a line. */
const variablesOf = (text: string): Readonly<Record<string, string>> =>
  Object.fromEntries(
    text
      .split("\n")
      .filter((line) => line !== "" && !line.startsWith("#"))
      .map((line) => [line.slice(0, line.indexOf("=")), line.slice(line.indexOf("=") + 1)]),
  )

const composed = globSync("compose*.yaml").map((file) => {
  const [document] = documentsOf(file)
  return [file, Object.fromEntries(entriesAt(document, "services", "tocsin", "environment"))] as const
})

const deployed = [...manifestsOf("Deployment"), ...manifestsOf("StatefulSet")].map(({ file, object }) => {
  const variables = listAt(object, "spec", "template", "spec", "containers", 0, "env")
  return [
    file,
    Object.fromEntries(variables.map((one) => [String(at(one, "name")), at(one, "value")])),
  ] as const
})

/** Where settings are given, and which. */
const places: ReadonlyArray<readonly [string, Readonly<Record<string, unknown>>]> = [
  ["Dockerfile", readImage().environment],
  ...composed,
  ...deployed,
  ...globSync("deploy/kubernetes/*/*.env").map(
    (file) => [file, variablesOf(readFileSync(file, "utf8"))] as const,
  ),
  ...globSync("deploy/systemd/*").map((file) => [file, environmentOf(readUnit(file))] as const),
]

const problemsOf = (variables: Readonly<Record<string, unknown>>): ReadonlyArray<SettingProblem> => {
  // The files of secrets are where the service is, not here.
  const direct = Object.entries(variables).filter(([name]) => !name.endsWith("_FILE"))
  return readSettings(Object.fromEntries(direct.map(([name, value]) => [name, String(value)]))).problems
}

describe("settings in deployment files", () => {
  it.each(files)("exist: %s", (file) => {
    const unknown = namesIn(readFileSync(file, "utf8")).filter((name) => !known.has(name))
    assert.deepStrictEqual(unknown, [])
  })

  it("are found", () => {
    assert.isAbove(files.flatMap((file) => namesIn(readFileSync(file, "utf8"))).length, 20)
    assert.deepStrictEqual(namesIn("export SERVICE_PORTS=1"), ["SERVICE_PORTS"])
    assert.isFalse(known.has("SERVICE_PORT_FILE"))
  })

  it.each(places)("have valid values: %s", (_, variables) => {
    assert.deepStrictEqual(problemsOf(variables), [])
  })

  it("would fail with an invalid value", () => {
    assert.lengthOf(problemsOf({ SERVICE_PORT: "eighty" }), 1)
  })
})
