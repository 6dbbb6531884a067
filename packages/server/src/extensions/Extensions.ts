import type { NotifierOption } from "tocsin/internal/notifiers/notifiers"
import type { StorageChoice } from "tocsin/internal/storages/storages"

/** The notifiers and the storage that modules of SERVICE_EXTENSIONS give (docs/rules.md#extensions). */
export interface Extensions {
  /** Each with the module that gives it. */
  readonly notifiers: ReadonlyArray<readonly [module: string, notifier: NotifierOption]>
  readonly storage?: { readonly module: string; readonly choice: StorageChoice } | undefined
}

/** Extensions, and why some of their modules give none. */
export interface ReadExtensions {
  readonly extensions: Extensions
  readonly problems: ReadonlyArray<string>
  /** Doubts about modules that work. */
  readonly warnings: ReadonlyArray<string>
}

let loaded: (ReadExtensions & { readonly modules: string }) | undefined

/** Keeps what modules give, which this process imports once. */
export const keepExtensions = (modules: ReadonlyArray<string>, read: ReadExtensions): void => {
  loaded = { modules: modules.join(), ...read }
}

/** The notifiers and the storage of these modules, if this process has imported them. */
export const loadedExtensions = (modules: ReadonlyArray<string>): ReadExtensions | undefined =>
  loaded?.modules === modules.join() ? loaded : undefined

export const extensionWarnings = (): ReadonlyArray<string> => loaded?.warnings ?? []

/** A problem of the setting, which begins with the module. */
export const moduleProblem = (module: string, problem: string): string =>
  `SERVICE_EXTENSIONS names ${module}, ${problem}`
