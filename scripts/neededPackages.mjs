// Which packages of package-lock.json a task needs, for bootstrap.mjs.
import process from "node:process"

/**
 * @typedef {{ version?: string, integrity?: string, optional?: boolean, dev?: boolean, link?: boolean,
 * os?: readonly string[], cpu?: readonly string[], libc?: readonly string[],
 * dependencies?: Readonly<Record<string, string>>, optionalDependencies?: Readonly<Record<string, string>> }} LockedPackage
 */

/** Tasks that run without the tools of development. */
const SERVING = new Set(["start", "agent"])

export const WITH_TOOLS = "--include=dev"
const WITHOUT_TOOLS = "--omit=dev"

/**
 * The arguments of npm before a task; none where node_modules has all that the task needs. Packages that are only
 * missing are added, so that a server that runs from here keeps its files; `npm ci` begins by removing all.
 *
 * @param {string} task
 * @param {Record<string, LockedPackage>} wanted
 * @param {Record<string, LockedPackage> | undefined} installed nothing where no install was finished
 * @returns {ReadonlyArray<string> | undefined}
 */
export function npmBefore(task, wanted, installed) {
  const needsTools = !SERVING.has(task)
  const isThere = (/** @type {string} */ path) => installed !== undefined && path in installed
  const hasTools = Object.entries(wanted).some(([path, entry]) => entry.dev && isThere(path))
  const isSame = Object.entries(installed ?? {}).every(
    ([path, { version, integrity }]) =>
      path in wanted && version === wanted[path]?.version && integrity === wanted[path]?.integrity,
  )
  const lacks = Object.entries(wanted).some(
    ([path, entry]) => !isThere(path) && !entry.optional && (needsTools || !entry.dev),
  )
  if (installed !== undefined && isSame && !lacks) return undefined
  const how = installed !== undefined && isSame ? ["install", "--no-save"] : ["ci"]
  return [...how, needsTools || hasTools ? WITH_TOOLS : WITHOUT_TOOLS]
}

/** The C library of this Linux; elsewhere packages do not ask. */
function ownLibc() {
  if (process.platform !== "linux" || process.report === undefined) return "none"
  Object.assign(process.report, { excludeNetwork: true })
  const { header } = /** @type {{ header: { glibcVersionRuntime?: string } }} */ (process.report.getReport())
  return header.glibcVersionRuntime === undefined ? "musl" : "glibc"
}

/**
 * The packages that npm leaves out on this platform: those of others, and what only they need.
 *
 * @param {Record<string, LockedPackage>} packages
 */
function leftOut(packages) {
  const ownC = ownLibc()
  const entries = Object.entries(packages)
  const others = entries.filter(
    ([, { cpu = [process.arch], libc = [ownC], os = [process.platform] }]) =>
      !os.includes(process.platform) || !cpu.includes(process.arch) || !libc.includes(ownC),
  )
  const left = new Set(others.map(([path]) => path))
  for (let before = -1; before < left.size;) {
    before = left.size
    for (const [path, { optional }] of entries) {
      const name = path.slice(path.lastIndexOf(FOLDER) + FOLDER.length)
      const needing = entries.filter(
        ([, { dependencies = {}, optionalDependencies = {} }]) =>
          name in dependencies || name in optionalDependencies,
      )
      const isOfOthers = optional && needing.length > 0 && needing.every(([other]) => left.has(other))
      if (isOfOthers || [...left].some((other) => path.startsWith(`${other}/`))) left.add(path)
    }
  }
  return left
}

const FOLDER = "node_modules/"

/**
 * The folders that npm fills from a lock file on this platform.
 *
 * @param {Record<string, LockedPackage>} packages
 * @param {boolean} withTools
 */
export function packagesFor(packages, withTools) {
  const left = leftOut(packages)
  return Object.entries(packages).flatMap(([path, { dev, integrity }]) =>
    integrity !== undefined && !left.has(path) && (withTools || !dev) ? [path] : [],
  )
}
