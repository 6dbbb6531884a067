/**
 * A suite that every storage has to pass, as tests of vitest. Needs `vitest`, `@effect/vitest` and
 * `fast-check`, which `tocsin` itself does not.
 */
export { storageSuite } from "@tocsin/testing/storageSuite"
export type { StorageUnderTest } from "@tocsin/testing/StorageUnderTest"
export { storageUnderTest } from "./storageUnderTest.ts"
export type { StoragePlaces } from "./storageUnderTest.ts"
