import { readFileSync } from "node:fs"
import { findPackageJSON } from "node:module"
import { resolve } from "node:path"
import process from "node:process"
import { pathToFileURL } from "node:url"
import { Result } from "effect"
import { moduleProblem } from "./Extensions.ts"
import { isPath } from "./importModule.ts"

type Version = readonly [major: number, minor: number, patch: number]

const versionOf = (parts: ReadonlyArray<string | undefined>): Version => [
  Number(parts[0] ?? 0),
  Number(parts[1] ?? 0),
  Number(parts[2] ?? 0),
]

const COMPARATOR = /^(\^|~|>=|<|=|)v?(\d+)(?:\.(\d+))?(?:\.(\d+))?(?:\.[x*])*$/i

/** Whether a version fits one comparator of npm. Those of other forms count as fitting. */
const isWithin = (comparator: string, version: Version): boolean => {
  const found = COMPARATOR.exec(comparator)
  if (found === null) return true
  const [, sign, ...parts] = found
  const given = versionOf(parts)
  const isLike = (count: number) => given.slice(0, count).every((part, place) => part === version[place])
  const differing = given.findIndex((part, place) => part !== version[place])
  const isBelow = differing >= 0 && (version[differing] ?? 0) < (given[differing] ?? 0)
  const stated = parts.filter((part) => part !== undefined).length
  const leading = given.findIndex((part) => part > 0)
  switch (sign) {
    case "^":
      return !isBelow && isLike(leading < 0 ? stated : leading + 1)
    case "~":
      return !isBelow && isLike(Math.min(stated, 2))
    case ">=":
      return !isBelow
    case "<":
      return isBelow
    default:
      return isLike(stated)
  }
}

/** Whether a version lies in a range, as a manifest has it. */
export const fitsRange = (range: string, version: string): boolean =>
  range.split("||").some((alternative) =>
    alternative
      .trim()
      .split(/\s+/)
      .every((comparator) => isWithin(comparator, versionOf(version.split(/[.+-]/)))),
  )

/** Advice where the package of a module is made for other versions of Tocsin than this one. */
export const peerWarning = (module: string, version: string): ReadonlyArray<string> => {
  const file = Result.try(() =>
    findPackageJSON(
      isPath(module) ? pathToFileURL(resolve(module)) : module,
      pathToFileURL(`${process.cwd()}/`),
    ),
  )
  if (Result.isFailure(file) || file.success === undefined) return []
  const path = file.success
  const manifest = Result.try((): unknown => JSON.parse(readFileSync(path, "utf8")))
  const range = Object(Object(Result.getOrUndefined(manifest)).peerDependencies).tocsin
  return typeof range !== "string" || fitsRange(range, version)
    ? []
    : [
        moduleProblem(
          module,
          `whose package is made for tocsin ${range}, and this is ${version}: install a version of it that fits`,
        ),
      ]
}
