import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { gzipSync } from "node:zlib"
import { files } from "@tocsin/console/files"

/** Kilobytes that a browser loads, compressed. */
const BUDGET = { script: 63, style: 14, charts: 26 }

describe("the console's files", () => {
  it.live("stay small", () =>
    Effect.gen(function* () {
      const { script, scripts, style } = yield* Effect.promise(files)
      assert.isBelow(gzipSync(script).length, BUDGET.script * 1_000)
      assert.isBelow(gzipSync(style).length, BUDGET.style * 1_000)
      const { "charts.js": charts = "", ...others } = scripts
      assert.deepStrictEqual(others, {})
      assert.isBelow(gzipSync(charts).length, BUDGET.charts * 1_000)
      // The first script has a version in its address: imported without, it would run a second time.
      assert.notMatch(charts, /from[`"']|import[`"'(]/)
    }),
  )
})
