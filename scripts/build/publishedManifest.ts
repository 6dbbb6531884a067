import { NODE_RANGE } from "@tocsin/contract/formats/nodeVersions"
import { fileOf } from "./bundleLibrary.ts"
import { type PackageManifest, readManifest, addressesOf } from "./PackageManifest.ts"

/** The peers that entries share with the program: Effect, and the tools of the exported test suites. */
const PEERS = ["effect", "@effect/vitest", "fast-check"]

/** Unstable parts of Effect may change in a minor version; other packages follow semantic versioning. */
const rangeOf = (name: string, version: string): string =>
  name === "effect" || name.startsWith("@effect/") ? `~${version}` : `^${version}`

/** Modules for the server, which is published as one file. */
const INTERNAL = "./internal/*"

/** An entry of the sources as the build writes it. */
const built = (source: string) => {
  const file = fileOf(source.replace("./src/", "").replace(/\.ts$/, ""))
  return { types: `./lib/${file}.d.ts`, default: `./lib/${file}.js` }
}

const peersOf = (...manifests: ReadonlyArray<PackageManifest>): Readonly<Record<string, string>> => {
  const versions: Readonly<Record<string, string>> = Object.assign(
    {},
    ...manifests.map(({ dependencies, devDependencies }) => ({ ...devDependencies, ...dependencies })),
  )
  return Object.fromEntries(PEERS.map((name) => [name, rangeOf(name, versions[name] ?? "*")]))
}

/** The package.json of the published package: it contains all that it needs, and shares {@link PEERS}. */
export const publishedManifest = (root: string): object => {
  const manifest = readManifest(root, "tocsin")
  const { name, version, description, license, type, keywords, exports } = manifest
  return {
    name,
    version,
    description,
    ...(keywords !== undefined && { keywords }),
    license,
    ...addressesOf(root, "tocsin"),
    type,
    engines: { node: NODE_RANGE },
    sideEffects: false,
    exports: {
      ...Object.fromEntries(
        Object.entries(exports)
          .filter(([path]) => path !== INTERNAL)
          .map(([path, source]) => [path, built(source)]),
      ),
      "./package.json": "./package.json",
    },
    bin: { [name]: "bin/tocsin.mjs" },
    files: ["bin", "lib", "docs", "examples"],
    peerDependencies: peersOf(readManifest(root, "testing"), manifest),
    peerDependenciesMeta: Object.fromEntries(PEERS.map((peer) => [peer, { optional: true }])),
  }
}
