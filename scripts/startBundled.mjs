import { spawnSync } from "node:child_process"
import { existsSync, globSync, statSync } from "node:fs"
import { basename, join } from "node:path"
import process from "node:process"
import { fileURLToPath, pathToFileURL } from "node:url"

const root = fileURLToPath(new URL("..", import.meta.url))

/** @param {string} folder the name of a package's folder */
export const bundleOf = (folder) => join(root, `node_modules/.cache/tocsin/${folder}.mjs`)

/** The files that bundles are made of. */
export const SOURCES = [
  "packages/*/src/**/*.{ts,tsx,css}",
  "packages/*/*.{json,mjs,sh}",
  "deploy/agent/**/*",
  "docs/agent.md",
  "scripts/*.mjs",
  "scripts/build/*.ts",
  "package-lock.json",
]

/** @param {string} path */
const changedAt = (path) => statSync(path).mtimeMs

/**
 * @param {string} bundle
 * @param {readonly string[]} sources
 */
export function isCurrent(bundle, sources = SOURCES) {
  if (!existsSync(bundle)) return false
  const bundled = changedAt(bundle)
  return globSync(sources, { cwd: root }).every((path) => changedAt(join(root, path)) < bundled)
}

/**
 * Bundles in a separate process, so that its memory is free before the program runs.
 *
 * @param {string} source
 * @param {string} bundle
 */
function makeBundle(source, bundle) {
  process.stderr.write(`Bundling the ${basename(bundle, ".mjs")} (only when its source has changed) …\n`)
  const made = spawnSync(process.execPath, [join(root, "scripts/bundle.mjs"), source, bundle], {
    stdio: ["ignore", "ignore", "inherit"],
  })
  return made.status === 0
}

/**
 * Runs a program of a package from one bundled file, which takes half the memory and a quarter of
 * the time of its many small modules (docs/decisions/README.md, 0008). The bundle is rebuilt when a source is
 * newer.
 *
 * @param {string} folder the name of a package's folder
 */
export async function startBundled(folder) {
  const source = join(root, `packages/${folder}/src/main.ts`)
  const bundle = bundleOf(folder)
  if (isCurrent(bundle) || makeBundle(source, bundle)) {
    await import(pathToFileURL(bundle).href)
  } else {
    process.stderr.write(`The ${folder} could not be bundled (see above) and runs unbundled.\n`)
    await import(pathToFileURL(source).href)
  }
}
