import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { gzipSync } from "node:zlib"
import { files } from "@tocsin/console/files"

/** Kilobytes that a browser loads, compressed. */
const BUDGET = { script: 60, style: 14 }

describe("the console's files", () => {
  it.live("stay small", () =>
    Effect.gen(function* () {
      const { script, style } = yield* Effect.promise(files)
      assert.isBelow(gzipSync(script).length, BUDGET.script * 1_000)
      assert.isBelow(gzipSync(style).length, BUDGET.style * 1_000)
    }),
  )
})
