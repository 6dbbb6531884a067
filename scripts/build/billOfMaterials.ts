import { relative } from "node:path"
import { Lock, type LockedPackage } from "./Lock.ts"

/**
 * An artefact that the build publishes: a package of the workspace, and the folders of packages in
 * its bundle.
 */
export interface Artefact {
  readonly folder: string
  readonly bundled: ReadonlyArray<string>
}

interface Component {
  readonly type: "application" | "library"
  readonly "bom-ref": string
  readonly name: string
  readonly version: string
  readonly licenses: ReadonlyArray<{ readonly license: { readonly id: string } }>
  readonly hashes?: ReadonlyArray<{ readonly alg: "SHA-512"; readonly content: string }>
  readonly purl: string
}

/** The package with the server, which brings Swagger UI. */
const PROGRAM = "tocsin"

const purlOf = (name: string, version: string): string =>
  `pkg:npm/${name.startsWith("@") ? `%40${name.slice(1)}` : name}@${version}`

const componentOf = (
  name: string,
  { version = "", license = "", integrity = "" }: LockedPackage,
): Component => {
  const purl = purlOf(name, version)
  const [, digest] = /^sha512-(.+)$/.exec(integrity) ?? []
  return {
    type: "library",
    "bom-ref": purl,
    name,
    version,
    licenses: [{ license: { id: license } }],
    ...(digest !== undefined && {
      hashes: [{ alg: "SHA-512", content: Buffer.from(digest, "base64").toString("hex") }],
    }),
    purl,
  }
}

/** Swagger UI, which `effect` carries as one text, and the server as `viewer.mjs`. */
const viewerIn = (viewer: string): Component => {
  const [, version] = /PACKAGE_VERSION:"([\d.]+)"/.exec(viewer) ?? []
  if (version === undefined) throw new Error("viewer.mjs does not state the version of Swagger UI")
  return componentOf("swagger-ui-dist", { version, license: "Apache-2.0" })
}

/**
 * The bill of materials of a build, as CycloneDX 1.6: what it publishes, and every package in a
 * bundle. The same sources give the same text.
 */
export const billOfMaterials = (root: string, artefacts: ReadonlyArray<Artefact>, viewer: string): string => {
  const lock = new Lock(root)
  const component = (path: string): Component => componentOf(lock.nameOf(path), lock.at(path))
  const swagger = viewerIn(viewer)
  const components = new Map<string, Component>()
  const needs = new Map<string, ReadonlySet<string>>()
  for (const { folder, bundled } of artefacts) {
    const paths = bundled.map((found) => relative(root, found).replaceAll("\\", "/"))
    const carried = new Map(paths.map((path) => [path, component(path)["bom-ref"]]))
    for (const [path, ref] of carried) {
      components.set(ref, component(path))
      needs.set(ref, new Set(lock.needsOf(path).flatMap((needed) => carried.get(needed) ?? [])))
    }
    const artefact = component(`packages/${folder}`)
    components.set(artefact["bom-ref"], artefact)
    const more = folder === PROGRAM ? [swagger["bom-ref"]] : []
    needs.set(artefact["bom-ref"], new Set([...carried.values(), ...more]))
  }
  components.set(swagger["bom-ref"], swagger)
  const sorted = Array.from(components.values()).sort((a, b) => (a.purl < b.purl ? -1 : 1))
  const { "bom-ref": ref, ...described } = component(`packages/${PROGRAM}`)
  const bill = {
    bomFormat: "CycloneDX",
    specVersion: "1.6",
    version: 1,
    metadata: { component: { ...described, type: "application", "bom-ref": ref } },
    components: sorted.filter((found) => found["bom-ref"] !== ref),
    dependencies: sorted.map((found) => ({
      ref: found["bom-ref"],
      dependsOn: Array.from(needs.get(found["bom-ref"]) ?? []).sort(),
    })),
  }
  return `${JSON.stringify(bill, undefined, 2)}\n`
}
