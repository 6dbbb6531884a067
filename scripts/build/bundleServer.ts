import { cpSync, existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { bundleProgram } from "../bundleProgram.mjs"

/** The bundle's licences ask that their texts go with it. */
const licenceOf = (folder: string): string => {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"))
  const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry))
  const text = file === undefined ? `Licence: ${license}` : readFileSync(join(folder, file), "utf8").trim()
  return `${name} ${version}\n\n${text}\n`
}

/** The folder of the installed package that a module belongs to, unless it is our own. */
const packageOf = (module: string): string | undefined =>
  /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(module.replaceAll("\\", "/"))?.[0]

/** The folders of the packages of others that bundled modules come from. */
export const packagesOf = (modules: ReadonlyArray<string>): ReadonlyArray<string> =>
  Array.from(new Set(modules.flatMap((module) => packageOf(module) ?? []))).filter((found) =>
    existsSync(join(found, "package.json")),
  )

/** The licence of ours and of every package that bundled modules come from. */
export const licencesOf = (root: string, modules: ReadonlyArray<string>): string => {
  const licences = packagesOf(modules).map(licenceOf).sort()
  return [licenceOf(root), ...licences].join(`\n${"-".repeat(80)}\n\n`)
}

/**
 * Writes the server with its command line to `folder`: all that a machine with Node.js needs to run
 * it (docs/decisions/README.md, 0008). It begins at `tocsin.mjs`. Resolves with the paths of the bundled modules.
 */
export const bundleServer = async (root: string, folder: string): Promise<ReadonlyArray<string>> => {
  cpSync(join(root, "scripts/build/bin"), folder, { recursive: true })
  const modules = await bundleProgram({
    source: join(root, "packages/server/src/main.ts"),
    target: join(folder, "server.mjs"),
  })
  writeFileSync(join(folder, "LICENSES.txt"), licencesOf(root, modules))
  return modules
}
