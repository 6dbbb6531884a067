import { describe } from "@effect/vitest"
import { scopeSuite } from "./scopeSuite.ts"
import type { StorageUnderTest } from "./StorageUnderTest.ts"

export const storageSuite = <Place, E>(subject: StorageUnderTest<Place, E>): void => {
  describe(`storage: ${subject.name}`, () => {
    scopeSuite(subject)
  })
}
