import { existsSync, readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"

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
