import { existsSync, lstatSync, readlinkSync, realpathSync, type Stats } from "node:fs"
import { findPackageJSON, registerHooks } from "node:module"
import { dirname, resolve } from "node:path"
import process from "node:process"
import { fileURLToPath, pathToFileURL } from "node:url"
import { Effect } from "effect"

/** A file or folder, all folders above it, and the same of each symbolic link on the way. */
const wayTo = (path: string): ReadonlyMap<string, Stats> => {
  const entry = lstatSync(path)
  const folder = dirname(path)
  const way = folder === path ? [] : [...wayTo(folder)]
  const target = entry.isSymbolicLink() ? [...wayTo(resolve(realpathSync(folder), readlinkSync(path)))] : []
  return new Map([[path, entry], ...target, ...way.toReversed()])
}

const WRITABLE_BY_OTHERS = 0o022
/** Others may add files to such a folder, but can neither delete nor replace those of its owner. */
const STICKY = 0o1000

/**
 * Why others than this process's user and root could change or replace a file or a folder, and what to do;
 * nothing if they cannot. Windows has no such users.
 */
const foreignWriter = (path: string): string | undefined => {
  const own = process.getuid?.()
  if (own === undefined) return undefined
  for (const [each, entry] of wayTo(path)) {
    if (entry.uid !== 0 && entry.uid !== own)
      return `${each} belongs to user ${entry.uid}: make root or the user of Tocsin (${own}) its owner`
    // The rights of a link are those of its folder and its target.
    const isKept = entry.isSymbolicLink() || (entry.isDirectory() && (entry.mode & STICKY) !== 0)
    if ((entry.mode & WRITABLE_BY_OTHERS) !== 0 && !isKept)
      return `other users can write ${each}: run chmod go-w on it`
  }
  return undefined
}

/** The beginning of the specifiers that the hook resolves: those of Tocsin's own modules never have it. */
const SCHEME = "tocsin-extension:"

/** Whether a module is named by a path, not as a package. */
export const isPath = (given: string): boolean => /^(?:\.{0,2}[/\\]|[a-z]:|file:)/i.test(given)

const requireOwn = (path: string): void => {
  const reason = foreignWriter(path)
  if (reason !== undefined) throw new Error(reason)
}

/** How a module is asked for: by `require`, which takes paths as they are, or by `import`, which takes addresses. */
interface Asked {
  readonly conditions: ReadonlyArray<string>
  readonly parentURL: string | undefined
}

/** The file, or the manifest of a package, that a specifier names before symbolic links are followed. */
const namedBy = (specifier: string, { conditions, parentURL = "" }: Asked): string | undefined => {
  if (!isPath(specifier)) return findPackageJSON(specifier, parentURL)
  const path = conditions.includes("require")
    ? resolve(dirname(fileURLToPath(parentURL)), specifier)
    : fileURLToPath(new URL(specifier, parentURL))
  return existsSync(path) ? path : undefined
}

/** The addresses of the modules, and of the files that they import, as long as they are being imported. */
const imported = new Set<string>()

/** How stacks name the files of the modules: by their addresses, or those of `require` by their paths. */
export const importedPlaces = (): ReadonlyArray<string> =>
  Array.from(imported).flatMap((address) => [address, fileURLToPath(address)])

/** Imports a module, with the files that it imports, from the working directory. Refuses files that others can change. */
export const importModule = (given: string): Effect.Effect<{ readonly default?: unknown }, unknown> =>
  Effect.acquireUseRelease(
    Effect.sync(() =>
      registerHooks({
        resolve: (specifier, context, next) => {
          const isGiven = specifier === `${SCHEME}${given}`
          const ofGiven = isPath(given) ? pathToFileURL(resolve(given)).href : given
          const name = isGiven ? ofGiven : specifier
          const parentURL = isGiven ? pathToFileURL(`${process.cwd()}/`).href : context.parentURL
          const asked = { ...context, parentURL }
          const found = next(name, asked)
          if (!found.url.startsWith("file:")) return found
          requireOwn(namedBy(name, asked) ?? fileURLToPath(found.url))
          requireOwn(fileURLToPath(found.url))
          // A command imports files of Tocsin at the same time.
          if (isGiven || imported.has(context.parentURL ?? "")) imported.add(found.url)
          return found
        },
      }),
    ),
    () => Effect.tryPromise({ try: () => import(`${SCHEME}${given}`), catch: (cause) => cause }),
    (hooks) => Effect.sync(() => hooks.deregister()),
  )
