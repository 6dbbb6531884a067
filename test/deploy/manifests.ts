import { globSync } from "node:fs"
import { dirname, join } from "node:path"
import { at, type Data, documentsOf, listAt } from "./YamlFile.ts"

/** An object of a manifest. */
export interface Manifest {
  readonly file: string
  readonly kind: string
  readonly object: Data
}

const FOLDER = "deploy/kubernetes"

/** Every object of the manifests but kustomizations. */
export const manifests: ReadonlyArray<Manifest> = globSync(`${FOLDER}/*/*.yaml`)
  .toSorted()
  .filter((file) => !file.endsWith("kustomization.yaml"))
  .flatMap((file) => documentsOf(file).map((object) => ({ file, kind: String(at(object, "kind")), object })))

/** Those of one kind. */
export const manifestsOf = (kind: string): ReadonlyArray<Manifest> =>
  manifests.filter((manifest) => manifest.kind === kind)

/** A `kustomization.yaml`. */
export interface Kustomization {
  readonly folder: string
  readonly content: Data
}

/** All of them, by the folders that `kubectl apply -k` takes. */
export const kustomizations: ReadonlyArray<Kustomization> = globSync(`${FOLDER}/*/kustomization.yaml`)
  .toSorted()
  .map((file) => ({ folder: dirname(file), content: documentsOf(file)[0] ?? null }))

/** The files that a kustomization applies, those of the folders that it names included. */
export const filesOf = ({ folder, content }: Kustomization): ReadonlyArray<string> =>
  listAt(content, "resources").flatMap((resource) => {
    const path = join(folder, String(resource))
    const inner = kustomizations.find((kustomization) => kustomization.folder === path)
    return inner === undefined ? [path] : filesOf(inner)
  })
