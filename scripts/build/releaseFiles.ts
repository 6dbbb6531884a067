import { createHash } from "node:crypto"
import { readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join, relative } from "node:path"
import { npm } from "./npm.ts"

const CHECKSUMS = "SHA256SUMS"

/** Packs folders of packages into tarballs in `target`, as npm publishes them. */
export const packPackages = async (target: string, folders: ReadonlyArray<string>): Promise<void> => {
  const { code, stderr } = await npm(target, ["pack", "--offline", "--silent", ...folders])
  if (code !== 0) throw new Error(`npm pack: ${stderr}`)
}

/** The files to download: tarballs, the package for Debian, and the bill of materials. */
const isPublished = (file: string): boolean => /\.(tgz|deb|cdx\.json)$/.test(file)

/** Writes the SHA-256 of everything that is published, in the form that `sha256sum -c` reads. */
export const writeChecksums = (target: string): void => {
  const files = [target, join(target, "agent")].flatMap((folder) =>
    readdirSync(folder)
      .filter(isPublished)
      .map((file) => join(folder, file)),
  )
  const lines = files.map((file) => {
    const digest = createHash("sha256").update(readFileSync(file)).digest("hex")
    return `${digest}  ${relative(target, file).replaceAll("\\", "/")}\n`
  })
  writeFileSync(join(target, CHECKSUMS), lines.join(""))
}
