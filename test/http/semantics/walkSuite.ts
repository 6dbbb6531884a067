import * as MemoryStorage from "@tocsin/adapter-memory/MemoryStorage"
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import type { StorageUnderTest } from "@tocsin/testing/StorageUnderTest"
import { onStorage } from "../onStorage.ts"
import { Tocsin } from "../service/Tocsin.ts"
import { walk } from "./walk/walk.ts"

/** The walk from end to end, and that operators read the same from every storage on the way. */
export const walkSuite = <Place>(subject: StorageUnderTest<Place>): void => {
  const { scenario } = onStorage(subject)
  // Rows of one moment are ordered by their ids.
  const options = { seed: "walk" }

  scenario(
    "the lives of agents follow docs/rules.md, and equal those on the memory storage",
    () =>
      Effect.gen(function* () {
        const lines = yield* walk
        const expected = yield* Effect.scoped(
          Effect.provide(walk, Tocsin.layer(MemoryStorage.layer, options)),
        )
        assert.isAbove(lines.length, 50)
        assert.deepStrictEqual(lines, expected)
      }),
    options,
  )
}
