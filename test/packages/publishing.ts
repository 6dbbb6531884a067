import { readFileSync } from "node:fs"
import { checkPackage, createPackageFromTarballData } from "@arethetypeswrong/core"
import { publint } from "publint"
import { formatMessage } from "publint/utils"

/** Ways to resolve a module that know no `exports`, or load CommonJS: the packages are ESM only. */
const NOT_MEANT = new Set(["node10", "node16-cjs"])

interface Exports {
  readonly [path: string]: null | string | { readonly types: string }
}

interface Problem {
  readonly kind: string
  readonly resolutionKind?: string
}

/** The entries of a package; for a pattern, one of its modules. */
const entrypointsOf = (exports: Exports, files: ReadonlyArray<string>): Array<string> =>
  Object.entries(exports).flatMap(([path, target]) => {
    if (target === null || typeof target === "string") return []
    const [before = "", after] = target.types.replace("./", "").split("*")
    if (after === undefined) return [path]
    const file = files.find((name) => name.startsWith(before) && name.endsWith(after)) ?? ""
    return path.replace("*", file.slice(before.length, file.length - after.length))
  })

/** The objections of publint and are-the-types-wrong to a tarball, each as a sentence. */
export const faultsOf = async (tarball: string): Promise<ReadonlyArray<string>> => {
  const data = new Uint8Array(readFileSync(tarball))
  const { messages, pkg } = await publint({ pack: { tarball: data.buffer }, strict: true })
  const unpacked = createPackageFromTarballData(data)
  const files = unpacked.listFiles().map((file) => file.replace(`/node_modules/${unpacked.packageName}/`, ""))
  // A program has nothing to import.
  if (pkg["exports"] === undefined)
    return messages.map((message) => String(formatMessage(message, pkg) ?? message.code))
  const entrypoints = entrypointsOf(pkg["exports"] as Exports, files)
  const checked = await checkPackage(unpacked, { entrypoints })
  const problems: ReadonlyArray<Problem> = "problems" in checked ? checked.problems : [{ kind: "NoTypes" }]
  return [
    ...messages.map((message) => String(formatMessage(message, pkg) ?? message.code)),
    ...problems
      .filter(({ resolutionKind = "" }) => !NOT_MEANT.has(resolutionKind))
      .map((problem) => JSON.stringify(problem)),
  ]
}
