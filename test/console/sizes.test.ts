import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { gzipSync } from "node:zlib"
import { files } from "@tocsin/console/files"

/** Kilobytes that a browser loads, compressed: the first pages, the others, those that decide, and charts. */
const BUDGET = { script: 42, style: 14, otherPages: 35, decidePages: 15, charts: 26 }

const isWithin = (text: string, budget: number) => void assert.isBelow(gzipSync(text).length, budget * 1_000)

describe("the console's files", () => {
  it.live("stay small", () =>
    Effect.gen(function* () {
      const { script, scripts, style } = yield* Effect.promise(files)
      isWithin(script, BUDGET.script)
      isWithin(style, BUDGET.style)
      const {
        "charts.js": charts = "",
        "decidePages.js": decidePages = "",
        "otherPages.js": otherPages = "",
        ...others
      } = scripts
      assert.deepStrictEqual(Object.keys(others), [])
      isWithin(otherPages, BUDGET.otherPages)
      isWithin(decidePages, BUDGET.decidePages)
      isWithin(charts, BUDGET.charts)
      // The server adds a version to this address: imported without, the first script would run a second time.
      const imported = Object.values(scripts).flatMap(
        (text) => text.match(/\}from\s*[`"'][^`"']+[`"']/g) ?? [],
      )
      assert.deepStrictEqual(imported, ['}from"./app.js"', '}from"./app.js"'])
    }),
  )
})
