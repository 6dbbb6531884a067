import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"

/** The fields of package.json that the build reads. */
export interface PackageManifest {
  readonly name: string
  readonly version: string
  readonly description: string
  readonly license: string
  readonly type: string
  readonly keywords?: ReadonlyArray<string>
  readonly exports: Readonly<Record<string, string | null>>
  readonly dependencies?: Readonly<Record<string, string>>
  readonly devDependencies?: Readonly<Record<string, string>>
}

/** A package of the workspace that is published. */
export interface PublishedPackage {
  /** Its folder in `packages` and in the output. */
  readonly folder: string
  readonly manifest: PackageManifest
}

const readPackage = (root: string, folder: string): PublishedPackage => ({
  folder,
  manifest: JSON.parse(readFileSync(join(root, "packages", folder, "package.json"), "utf8")),
})

/**
 * `tocsin` and every package of the workspace that it needs: those are published, by the order of
 * their names. What `tocsin` brings as a program, the server, is in its bundle.
 */
export const publishedPackages = (root: string): ReadonlyArray<PublishedPackage> => {
  const workspace = new Map(
    readdirSync(join(root, "packages"))
      .map((folder) => readPackage(root, folder))
      .map((found) => [found.manifest.name, found]),
  )
  const published = new Set<PublishedPackage>()
  const add = (name: string): void => {
    const found = workspace.get(name)
    if (found === undefined || published.has(found)) return
    published.add(found)
    for (const dependency of Object.keys(found.manifest.dependencies ?? {})) add(dependency)
  }
  add("tocsin")
  return Array.from(published).sort((a, b) => (a.folder < b.folder ? -1 : 1))
}
