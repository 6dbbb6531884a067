import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { rolldown } from "rolldown"
import type { CodeBlock } from "./CodeBlock.ts"

const OURS = /^(tocsin|effect|@tocsin\/[\w-]+)(\/|$)/

const importedBy = ({ text }: CodeBlock): ReadonlyArray<string> =>
  Array.from(text.matchAll(/ from "([^"]+)"/g), ([, name = ""]) => name)

/**
 * Bundles the packages that modules of pages import, and returns a module to start Node.js with, so
 * that it loads the bundle: each program takes a third of the time that a thousand small files take.
 */
export const bundlePackages = async (folder: string, modules: ReadonlyArray<CodeBlock>): Promise<string> => {
  const names = Array.from(new Set(modules.flatMap(importedBy))).filter((name) => OURS.test(name))
  const files = names.map((name) => [name, `${name.replaceAll("/", "-")}.mjs`] as const)
  const bundle = await rolldown({
    input: Object.fromEntries(files.map(([name, file]) => [file, name])),
    platform: "node",
    // Bundles the console where it is called, with a bundler that is no part of a bundle.
    external: ["@tocsin/console/files"],
    onwarn: () => {},
  })
  await bundle.write({
    dir: folder,
    format: "esm",
    entryFileNames: "[name]",
    chunkFileNames: "[name]-[hash].mjs",
  })
  await bundle.close()
  const urls = Object.fromEntries(files.map(([name, file]) => [name, pathToFileURL(join(folder, file)).href]))
  const start = join(folder, "start.mjs")
  mkdirSync(folder, { recursive: true })
  writeFileSync(
    start,
    `import { registerHooks } from "node:module"
const urls = ${JSON.stringify(urls)}
registerHooks({
  resolve: (name, context, next) =>
    Object.hasOwn(urls, name) ? { url: urls[name], shortCircuit: true } : next(name, context),
})
`,
  )
  return pathToFileURL(start).href
}
