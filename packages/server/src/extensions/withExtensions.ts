import { Redacted } from "effect"
import type { StorageChoice } from "tocsin/internal/storages/storages"
import { configuredNotifiers } from "../rules.ts"
import type { Settings } from "../settings/Settings.ts"
import { type Extensions, loadedExtensions, moduleProblem } from "./Extensions.ts"

/** Notifiers of modules whose names settings give to others, and a storage of modules beside DATABASE_URL. */
const extensionConflicts = (
  { notifiers, storage }: Extensions,
  values: Partial<Settings>,
  isApart: boolean,
): ReadonlyArray<string> => {
  const taken: ReadonlySet<string> = configuredNotifiers(values)
  return [
    ...notifiers.flatMap(([module, { name }]) =>
      taken.has(name)
        ? [moduleProblem(module, `whose notifier ${name} has the name of one that settings give: rename it`)]
        : [],
    ),
    ...(storage !== undefined && values.DATABASE_URL !== undefined && !isApart
      ? [moduleProblem(storage.module, BESIDE_DATABASE)]
      : []),
  ]
}

const BESIDE_DATABASE =
  "which gives a storage beside DATABASE_URL: unset DATABASE_URL, or leave the module out and move the data with tocsin copy"

/** Memory and PostgreSQL that a module names count as those of DATABASE_URL do. */
const databaseOf = (choice: StorageChoice | undefined): Settings["DATABASE_URL"] | undefined =>
  choice?.kind === "postgres"
    ? { kind: "postgres", url: Redacted.make(choice.url()) }
    : choice?.kind === "memory"
      ? { kind: "memory" }
      : undefined

/** The settings with what the modules of SERVICE_EXTENSIONS give; their storage is for `copy` alone where it is apart. */
export const withExtensions = (
  values: Partial<Settings>,
  isApart: boolean,
): { readonly values: Partial<Settings>; readonly problems: ReadonlyArray<string> } => {
  const read = values.SERVICE_EXTENSIONS && loadedExtensions(values.SERVICE_EXTENSIONS)
  if (read === undefined) return { problems: [], values }
  const { extensions } = read
  const found = [...read.problems, ...extensionConflicts(extensions, values, isApart)]
  const DATABASE_URL = values.DATABASE_URL ?? (isApart ? undefined : databaseOf(extensions.storage?.choice))
  return {
    values: { ...values, extensions, DATABASE_URL },
    problems: found,
  }
}
