import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { dirname, join, posix, relative } from "node:path"

/** A specifier of a module: after `from`, or in `import(…)`. */
const SPECIFIER = /(\bfrom |\bimport\()"([^"]+)"/g

/** A module of the workspace by its package and path. */
const OURS = /^@tocsin\/([^/]+)(?:\/(.+))?$/

/** The path of a declaration's import, relative to the declaration, or the name of another package. */
const staged = (module: string, specifier: string): string => {
  const [, folder, path = "index"] = OURS.exec(specifier) ?? []
  if (folder === undefined) return specifier.replace(/^(\..*)\.ts$/, "$1.js")
  const found = posix.relative(posix.dirname(module), `${folder}/${path}.js`)
  return found.startsWith(".") ? found : `./${found}`
}

/** The modules that a declaration imports, below the folder of all. */
const importsOf = (module: string, text: string): ReadonlyArray<string> =>
  Array.from(text.matchAll(SPECIFIER), ([, , specifier = ""]) => specifier)
    .filter((specifier) => specifier.startsWith("."))
    .map((specifier) => posix.join(posix.dirname(module), specifier.replace(/\.js$/, ".d.ts")))

/** Declarations by their path, such as `core/ports/Storage.d.ts`, which import each other by relative paths. */
export type Declarations = ReadonlyMap<string, string>

/** The compiler indents each level by four spaces, a tenth of all bytes. */
const INDENT = /^(?: {4})+/gm

/** Reads the declarations of all packages that the compiler wrote to `emitted`, indented by tabs. */
export const readDeclarations = (emitted: string): Declarations =>
  new Map(
    readdirSync(emitted, { recursive: true, encoding: "utf8" })
      .filter((path) => path.endsWith(".d.ts"))
      .map((path) => {
        const module = relative(emitted, join(emitted, path)).replaceAll("\\", "/").replace("/src/", "/")
        const text = readFileSync(join(emitted, path), "utf8").replace(/\n\/\/# sourceMappingURL=.*/, "")
        const linked = text.replaceAll(
          SPECIFIER,
          (_, before, specifier) => `${before}"${staged(module, specifier)}"`,
        )
        return [module, linked.replaceAll(INDENT, (spaces) => "\t".repeat(spaces.length / 4))]
      }),
  )

/** These declarations and all that they import. */
export const withImports = (all: Declarations, modules: ReadonlyArray<string>): Declarations => {
  const found = new Map<string, string>()
  const add = (module: string): void => {
    const text = all.get(module)
    if (text === undefined || found.has(module)) return
    found.set(module, text)
    for (const imported of importsOf(module, text)) add(imported)
  }
  for (const module of modules) add(module)
  return found
}

/** Writes declarations below a folder. */
export const writeDeclarations = (folder: string, declarations: Declarations): void => {
  for (const [module, text] of declarations) {
    const path = join(folder, module)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, text)
  }
}
