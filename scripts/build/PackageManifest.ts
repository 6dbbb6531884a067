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

/** The address of the sources, which the workspace alone names, as a part of a published manifest. */
export const repositoryOf = (root: string, folder: string): { readonly repository?: object } => {
  const { repository: url }: { readonly repository?: string } = JSON.parse(
    readFileSync(join(root, "package.json"), "utf8"),
  )
  return url === undefined ? {} : { repository: { type: "git", url, directory: `packages/${folder}` } }
}

/** Reads the manifest of a package of the workspace. */
export const readManifest = (root: string, folder: string): PackageManifest =>
  JSON.parse(readFileSync(join(root, "packages", folder, "package.json"), "utf8"))
