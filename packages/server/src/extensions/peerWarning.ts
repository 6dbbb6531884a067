import { readFileSync } from "node:fs"
import { findPackageJSON } from "node:module"
import { resolve } from "node:path"
import process from "node:process"
import { pathToFileURL } from "node:url"
import { Result } from "effect"
import { moduleProblem } from "./Extensions.ts"
import { isPath } from "./importModule.ts"

const COMPARATOR = /^(\^|~|>=|<|=|)v?(\d+)(?:\.(\d+))?(?:\.(\d+))?(?:\.[x*])*$/i

/** Whether a version fits one comparator of npm. Those of other forms count as fitting. */
const isWithin = (comparator: string, version: ReadonlyArray<number>): boolean => {
  const [, sign, ...parts] = COMPARATOR.exec(comparator) ?? []
  const given = parts.filter((part) => part !== undefined).map(Number)
  const differing = given.findIndex((part, place) => part !== version[place])
  const isBelow = differing >= 0 && Number(version[differing]) < Number(given[differing])
  /** Whether the first parts are equal. */
  const isLike = (count: number) => differing < 0 || differing >= count
  const leading = given.findIndex((part) => part > 0)
  switch (sign) {
    case "^":
      return !isBelow && isLike(leading < 0 ? given.length : leading + 1)
    case "~":
      return !isBelow && isLike(2)
    case ">=":
      return !isBelow
    case "<":
      return isBelow
    default:
      return isLike(given.length)
  }
}

/** Whether a version lies in a range, as a manifest has it. */
export const fitsRange = (range: string, version: string): boolean =>
  range.split("||").some((alternative) =>
    alternative
      .trim()
      .split(/\s+/)
      .every((comparator) => isWithin(comparator, version.split(/[.+-]/).slice(0, 3).map(Number))),
  )

/** The range of `tocsin` that the package of a module is made for. */
const peerRange = (module: string): unknown => {
  const file = findPackageJSON(
    isPath(module) ? pathToFileURL(resolve(module)) : module,
    pathToFileURL(`${process.cwd()}/`),
  )
  const manifest: unknown = file === undefined ? {} : JSON.parse(readFileSync(file, "utf8"))
  return Object(Object(manifest).peerDependencies).tocsin
}

/** Advice where the package of a module is made for other versions of Tocsin than this one. */
export const peerWarning = (module: string, version: string): ReadonlyArray<string> => {
  const range = Result.getOrUndefined(Result.try(() => peerRange(module)))
  if (typeof range !== "string" || fitsRange(range, version)) return []
  const problem = `whose package is made for tocsin ${range}, and this is ${version}: install a version of it that fits`
  return [moduleProblem(module, problem)]
}
