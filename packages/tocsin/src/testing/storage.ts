/**
 * A suite that every storage has to pass, as tests of vitest. Needs `vitest`, `@effect/vitest` and
 * `fast-check`, which `tocsin` itself does not.
 */
import type { StorageError } from "@tocsin/core/kernel/ports/Storage"
import type { StorageUnderTest } from "@tocsin/testing/StorageUnderTest"
import { Context, Effect, Layer } from "effect"
import { layersOf, type StorageChoice } from "../storages/storages.ts"
import { ReopenedStore } from "./stores/ReopenedStore.ts"

export { storageSuite } from "@tocsin/testing/storageSuite"
export type { StorageUnderTest }

/** Where a storage lives during one test, in terms of promises. */
export interface StoragePlaces<Place> {
  /** The name that the tests show. */
  readonly name: string
  /** Makes a place with nothing in it: a folder, a database. */
  readonly make: () => Promise<Place> | Place
  /** Removes it with all that is in it. */
  readonly remove?: (place: Place) => Promise<void> | void
  /** The storage there. Called once for each place. A `keyValue` storage is opened again after each test. */
  readonly storage: (place: Place) => StorageChoice
  /** Why a place cannot have two clients at once: tests that need two are skipped and print this. */
  readonly onlyOneClient?: string
}

interface Opened {
  readonly storage: StorageChoice
  /** Compares all rows with those that the storage acknowledged. */
  readonly verify: () => Promise<void>
}

class Place extends Context.Service<Place, Opened>()("tocsin/testing/Place") {}

const openedAt = (storage: StorageChoice): Opened => {
  if (storage.kind !== "keyValue") return { storage, verify: async () => {} }
  const store = new ReopenedStore(storage.options)
  return {
    storage: { ...storage, options: { ...storage.options, open: store.open } },
    verify: store.verify,
  }
}

/**
 * Describes a storage for the shared suite by promises:
 *
 * @example
 * ```ts
 * storageSuite(storageUnderTest({
 *   name: "log file",
 *   make: () => mkdtemp(join(tmpdir(), "tocsin-")),
 *   remove: (folder) => rm(folder, { recursive: true }),
 *   storage: (folder) => logFile(join(folder, "monitoring.log")),
 * }))
 * ```
 */
export const storageUnderTest = <Made>({
  name,
  make,
  remove,
  storage,
  onlyOneClient,
}: StoragePlaces<Made>): StorageUnderTest<Place, StorageError> => ({
  name,
  ...(onlyOneClient !== undefined && { onlyOneClient }),
  noHints: "no storage in terms of promises gives any",
  tryFirst: async () => {
    const made = await make()
    const choice = storage(made)
    try {
      if (choice.kind === "keyValue") await new ReopenedStore(choice.options).tryFirst()
    } finally {
      // A late write may fill it again.
      await Promise.resolve(remove?.(made)).catch(() => {})
    }
  },
  place: Layer.effect(
    Place,
    Effect.map(
      Effect.acquireRelease(
        Effect.promise(async () => {
          const made = await make()
          return { made, opened: openedAt(storage(made)) }
        }),
        ({ made, opened }) =>
          Effect.promise(async () => {
            try {
              return await opened.verify()
            } finally {
              await remove?.(made)
            }
          }),
      ),
      ({ opened }) => opened,
    ),
  ),
  client: Layer.unwrap(Effect.map(Place, (place) => layersOf(place.storage).storage)),
})
