import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { dirname, join, relative } from "node:path"

/**
 * In declarations, where the compiler leaves the names of sources; the replacement is as long, so
 * that maps stay right.
 */
const SOURCE_OF_DECLARATION = /(\bfrom |\bimport\()"(\.{1,2}\/[^"]+)\.ts"/g

/** The file that a built one was made of. */
const sourceOf = (module: string): string => module.replace(/(\.d\.ts|\.js)\.map$/, ".ts")

const placed = (module: string, text: string): string => {
  if (module.endsWith(".d.ts")) return text.replaceAll(SOURCE_OF_DECLARATION, '$1"$2.js"')
  if (!module.endsWith(".map")) return text
  const source = relative(dirname(join("lib", module)), join("src", sourceOf(module)))
  return JSON.stringify({ ...JSON.parse(text), sources: [source.replaceAll("\\", "/")] })
}

/**
 * Puts the modules of a package that the compiler wrote to `emitted` into `lib` of its folder,
 * beside their sources.
 */
export const placeModules = (emitted: string, sources: string, folder: string): void => {
  for (const entry of readdirSync(emitted, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue
    const path = join(entry.parentPath, entry.name)
    const module = relative(emitted, path)
    const target = join(folder, "lib", module)
    mkdirSync(dirname(target), { recursive: true })
    writeFileSync(target, placed(module, readFileSync(path, "utf8")))
  }
  cpSync(sources, join(folder, "src"), { recursive: true })
}
