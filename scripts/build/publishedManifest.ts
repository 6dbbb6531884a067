import type { PackageManifest } from "./PackageManifest.ts"

/** The Node.js that runs and tests the sources. */
const ENGINES = { node: ">=24" }

/** A program must have a single copy of it. */
const SHARED = "effect"

/**
 * Tools of the exported test suites, which only their users install. In the workspace they are dev
 * dependencies, so that a server's installation lacks them.
 */
const TEST_TOOLS = new Set(["@effect/vitest", "fast-check"])

/**
 * Unstable parts of effect may change in a minor version; other packages follow semantic
 * versioning.
 */
const rangeOf = (name: string, version: string): string => {
  if (name === "tocsin" || name.startsWith("@tocsin/")) return version
  return name === SHARED || name.startsWith("@effect/") ? `~${version}` : `^${version}`
}

const rangesOf = (dependencies: ReadonlyArray<readonly [name: string, version: string]>) =>
  Object.fromEntries(dependencies.map(([name, version]) => [name, rangeOf(name, version)]))

/** A module of the sources as the build places it. */
const built = (source: string) => {
  const module = source.replace("./src/", "./lib/").replace(/\.ts$/, "")
  return { types: `${module}.d.ts`, default: `${module}.js` }
}

/**
 * The package.json of a published package: the workspace's own with built modules for sources,
 * `effect` as a peer, and packages of the same build by their exact version.
 */
export const publishedManifest = (
  manifest: PackageManifest,
  { hasProgram }: { readonly hasProgram: boolean },
): object => {
  const { name, version, description, license, type, keywords, exports } = manifest
  const dependencies = Object.entries(manifest.dependencies ?? {})
  const tools = Object.entries(manifest.devDependencies ?? {}).filter(([tool]) => TEST_TOOLS.has(tool))
  return {
    name,
    version,
    description,
    ...(keywords !== undefined && { keywords }),
    license,
    type,
    ...(hasProgram && { engines: ENGINES }),
    sideEffects: false,
    exports: {
      ...Object.fromEntries(
        Object.entries(exports).map(([path, source]) => [path, source === null ? null : built(source)]),
      ),
      "./package.json": "./package.json",
    },
    ...(hasProgram && { bin: { [name]: "bin/tocsin.mjs" } }),
    files: ["lib", "src", ...(hasProgram ? ["bin"] : [])],
    dependencies: rangesOf(dependencies.filter(([dependency]) => dependency !== SHARED)),
    peerDependencies: rangesOf([...dependencies.filter(([dependency]) => dependency === SHARED), ...tools]),
    ...(tools.length > 0 && {
      peerDependenciesMeta: Object.fromEntries(tools.map(([tool]) => [tool, { optional: true }])),
    }),
  }
}
