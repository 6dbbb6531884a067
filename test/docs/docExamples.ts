import { cpSync, globSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import type { Modules } from "./Modules.ts"

const SURROUNDINGS = "test/docs/jsdoc/surroundings.ts"

/** The names that examples may leave out, by how an import writes them. */
const known: ReadonlyMap<string, string> = new Map(
  Array.from(
    readFileSync(SURROUNDINGS, "utf8").matchAll(/^export (type|declare const) [[{ ]*([\w, ]+)/gm),
    ([, kind, names = ""]) =>
      names
        .trim()
        .split(", ")
        .map((name) => [name, kind === "type" ? `type ${name}` : name] as const),
  ).flat(),
)

/** The examples in the doc comments of a file, as programs. */
const examplesOf = (file: string): ReadonlyArray<string> =>
  Array.from(
    readFileSync(file, "utf8").matchAll(/@example[^\n]*\n\s*\* ```ts\n([^]*?)\n\s*\* ```/g),
    ([, block = ""]) => {
      const lines = block.split("\n").map((line) => line.replace(/^\s*\* ?/, ""))
      const imports = lines.filter((line) => line.startsWith("import "))
      const others = lines.filter((line) => !line.startsWith("import "))
      const imported = new Set(imports.join(" ").match(/\w+/g))
      const used = new Set(others.join(" ").match(/\w+/g))
      const left = Array.from(known).filter(([name]) => used.has(name) && !imported.has(name))
      const surroundings = left.map(([, written]) => written).join(", ")
      return [
        `// ${file}`,
        `import { ${surroundings} } from "../surroundings.ts"`,
        ...imports,
        // In a function, an example may return, and replace a name of its surroundings.
        "export const example = async () => {",
        ...others,
        "}\n",
      ].join("\n")
    },
  )

/** Writes the examples of doc comments next to the modules of pages, for the same compiler. Returns their number. */
export const writeExamples = ({ folder }: Modules): number => {
  const jsdoc = join(folder, "jsdoc")
  mkdirSync(join(jsdoc, "written"), { recursive: true })
  cpSync("test/docs/jsdoc", jsdoc, { recursive: true })
  const examples = globSync("packages/{client,reporting,tocsin}/src/**/*.ts").flatMap(examplesOf)
  for (const [index, example] of examples.entries())
    writeFileSync(join(jsdoc, "written", `example${index + 1}.ts`), example)
  return examples.length
}
