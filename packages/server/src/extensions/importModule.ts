import { existsSync } from "node:fs"
import { findPackageJSON, registerHooks } from "node:module"
import { dirname, resolve } from "node:path"
import process from "node:process"
import { fileURLToPath, pathToFileURL } from "node:url"
import { Effect } from "effect"
import { foreignWriter } from "./foreignWriter.ts"

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
