import { readFileSync } from "node:fs"
import { join } from "node:path"

/** A package as package-lock.json describes it. */
export interface LockedPackage {
  readonly name?: string
  readonly version?: string
  readonly license?: string
  readonly integrity?: string
  /** Of a link into the workspace: its folder. */
  readonly resolved?: string
  readonly link?: boolean
  readonly dependencies?: Readonly<Record<string, string>>
  readonly optionalDependencies?: Readonly<Record<string, string>>
  readonly peerDependencies?: Readonly<Record<string, string>>
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>
}

/** The packages of a lock file, by where they are installed. */
export class Lock {
  readonly #packages: Readonly<Record<string, LockedPackage>>

  constructor(root: string) {
    this.#packages = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8")).packages
  }

  at(path: string): LockedPackage {
    const found = this.#packages[path]
    if (found === undefined) throw new Error(`package-lock.json has no ${path}`)
    return found
  }

  nameOf(path: string): string {
    return this.at(path).name ?? path.replace(/^packages\/|^.*node_modules\//, "")
  }

  /** The packages that npm installs with one. */
  needsOf(path: string): ReadonlyArray<string> {
    const { dependencies, optionalDependencies, peerDependencies, peerDependenciesMeta } = this.at(path)
    const peers = Object.keys(peerDependencies ?? {}).filter(
      (name) => peerDependenciesMeta?.[name]?.optional !== true,
    )
    return [...Object.keys({ ...dependencies, ...optionalDependencies }), ...peers].flatMap((name) =>
      this.#found(path, name),
    )
  }

  /** As Node.js looks a name up, from a folder to the root. */
  #found(path: string, name: string): ReadonlyArray<string> {
    for (let folder = path; ; folder = folder.replace(/\/?[^/]*$/, "")) {
      const place = folder === "" ? `node_modules/${name}` : `${folder}/node_modules/${name}`
      const found = this.#packages[place]
      if (found?.link === true) return [found.resolved ?? ""]
      if (found !== undefined) return [place]
      if (folder === "") return []
    }
  }
}
