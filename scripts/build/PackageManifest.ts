import { readFileSync } from "node:fs"
import { join } from "node:path"

/** The fields of package.json that the build reads. */
export interface PackageManifest {
  readonly name: string
  readonly version: string
  readonly description: string
  readonly license: string
  readonly type: string
  readonly keywords?: ReadonlyArray<string>
  readonly exports: Readonly<Record<string, string>>
  readonly dependencies?: Readonly<Record<string, string>>
  readonly devDependencies?: Readonly<Record<string, string>>
}

/** Addresses that the workspace alone names, as far as it does. */
interface Addresses {
  readonly repository?: string
  readonly homepage?: string
  readonly bugs?: string
}

/** The addresses of the sources, their page and their issues, as a part of a published manifest. */
export const addressesOf = (root: string, folder: string): object => {
  const manifest: Addresses = JSON.parse(readFileSync(join(root, "package.json"), "utf8"))
  const { repository: url, homepage, bugs } = manifest
  return {
    ...(url !== undefined && { repository: { type: "git", url, directory: `packages/${folder}` } }),
    ...(homepage !== undefined && { homepage }),
    ...(bugs !== undefined && { bugs }),
  }
}

/** Reads the manifest of a package of the workspace. */
export const readManifest = (root: string, folder: string): PackageManifest =>
  JSON.parse(readFileSync(join(root, "packages", folder, "package.json"), "utf8"))
