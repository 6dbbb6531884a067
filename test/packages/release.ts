import { createHash } from "node:crypto"
import { globSync, readFileSync } from "node:fs"
import { join } from "node:path"

interface Bill {
  readonly components: ReadonlyArray<{
    readonly name: string
    readonly version: string
    readonly licenses: ReadonlyArray<{ readonly license: { readonly id: string } }>
  }>
}

/** The files beside the packages of a build: its bill of materials, licences and checksums. */
export const readRelease = (built: string) => {
  const read = (file: string): string => readFileSync(join(built, file), "utf8")
  const bill: Bill = JSON.parse(read("sbom.cdx.json"))
  const texts = globSync("**/LICENSES.txt", { cwd: built }).map(read)
  const bundled = texts.flatMap((text) => text.match(/^(?!tocsin-workspace)\S+ \d+\.\d+\.\d+$/gm) ?? [])
  const stated = read("SHA256SUMS")
    .trimEnd()
    .split("\n")
    .map((line) => line.split("  ").toReversed())
  const files = globSync("*.*", { cwd: built })
  return {
    components: bill.components.map(({ name, version, licenses }) => ({
      name,
      version,
      licence: licenses.map(({ license }) => license.id).join(" "),
    })),
    /** Name and version of each package in a bundle, as its `LICENSES.txt` states them. */
    bundled: new Set(bundled),
    stated: Object.fromEntries(stated) as Record<string, string>,
    computed: Object.fromEntries(
      files.map((file) => [
        file,
        createHash("sha256")
          .update(readFileSync(join(built, file)))
          .digest("hex"),
      ]),
    ),
  }
}
