import { readFileSync } from "node:fs"
import { checkPackage, createPackageFromTarballData } from "@arethetypeswrong/core"
import { publint } from "publint"
import { formatMessage } from "publint/utils"

/** Ways to resolve a module that know no `exports`, or load CommonJS: the packages are ESM only. */
const NOT_MEANT = new Set(["node10", "node16-cjs"])

interface Problem {
  readonly kind: string
  readonly resolutionKind?: string
}

/** The objections of publint and are-the-types-wrong to a tarball, each as a sentence. */
export const faultsOf = async (tarball: string): Promise<ReadonlyArray<string>> => {
  const data = new Uint8Array(readFileSync(tarball))
  const { messages, pkg } = await publint({ pack: { tarball: data.buffer }, strict: true })
  const unpacked = createPackageFromTarballData(data)
  // A program has nothing to import.
  if (pkg["exports"] === undefined)
    return messages.map((message) => String(formatMessage(message, pkg) ?? message.code))
  const checked = await checkPackage(unpacked)
  const problems: ReadonlyArray<Problem> = "problems" in checked ? checked.problems : [{ kind: "NoTypes" }]
  return [
    ...messages.map((message) => String(formatMessage(message, pkg) ?? message.code)),
    ...problems
      .filter(({ resolutionKind = "" }) => !NOT_MEANT.has(resolutionKind))
      .map((problem) => JSON.stringify(problem)),
  ]
}
