import { createHash } from "node:crypto"
import { readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { npm } from "./npm.ts"

const CHECKSUMS = "SHA256SUMS"

/** Packs folders of packages into tarballs in `target`, as npm publishes them. */
export const packPackages = async (target: string, folders: ReadonlyArray<string>): Promise<void> => {
  const { code, stderr } = await npm(target, ["pack", "--offline", "--silent", ...folders])
  if (code !== 0) throw new Error(`npm pack: ${stderr}`)
}

/** The files to download: tarballs, executables, packages for Debian, licences, and the bill of materials. */
const isPublished = (file: string): boolean => /\.(tgz|deb|cdx\.json|txt)$|-linux-[a-z0-9]+$/.test(file)

/** Writes the SHA-256 of everything that is published, in the form that `sha256sum -c` reads. */
export const writeChecksums = (target: string): void => {
  const lines = readdirSync(target)
    .filter(isPublished)
    .map((file) => {
      const digest = createHash("sha256")
        .update(readFileSync(join(target, file)))
        .digest("hex")
      return `${digest}  ${file}\n`
    })
  writeFileSync(join(target, CHECKSUMS), lines.join(""))
}
