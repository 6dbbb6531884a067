import { registerHooks } from "node:module"
import { isAbsolute, resolve } from "node:path"
import process from "node:process"
import { fileURLToPath, pathToFileURL } from "node:url"
import { Effect } from "effect"
import { foreignWriter } from "./foreignWriter.ts"

/** The beginning of the specifiers that the hook resolves: those of Tocsin's own modules never have it. */
const SCHEME = "tocsin-extension:"

const isPath = (given: string): boolean => isAbsolute(given) || /^\.{1,2}[/\\]/.test(given)

const requireOwn = (path: string): void => {
  const reason = foreignWriter(path)
  if (reason !== undefined) throw new Error(reason)
}

/** Finds a module as one of the working directory would, and refuses files that others can change. */
const resolveFrom = (
  folder: string,
  given: string,
  next: (specifier: string, context: { readonly parentURL: string }) => { readonly url: string },
) => {
  if (!isAbsolute(given)) requireOwn(folder)
  const path = resolve(folder, given)
  const found = next(isPath(given) ? pathToFileURL(path).href : given, {
    parentURL: pathToFileURL(`${folder}/`).href,
  })
  // The path that was given may lead there by symbolic links.
  if (isPath(given)) requireOwn(path)
  return found
}

/** Imports a module, with the files that it imports, from the working directory. */
export const importModule = (given: string): Effect.Effect<{ readonly default?: unknown }, unknown> =>
  Effect.acquireUseRelease(
    Effect.sync(() =>
      registerHooks({
        resolve: (specifier, context, next) => {
          const isGiven = specifier === `${SCHEME}${given}`
          const found = isGiven
            ? resolveFrom(process.cwd(), given, (name, { parentURL }) =>
                next(name, { ...context, parentURL }),
              )
            : next(specifier, context)
          if (found.url.startsWith("file:")) requireOwn(fileURLToPath(found.url))
          return found
        },
      }),
    ),
    () => Effect.tryPromise({ try: () => import(`${SCHEME}${given}`), catch: (cause) => cause }),
    (hooks) => Effect.sync(() => hooks.deregister()),
  )
