import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { gzipSync } from "node:zlib"
import { files } from "@tocsin/console/files"
import { de } from "@tocsin/contract/languages/de"

/** Kilobytes that a browser has loaded, compressed, after each step of a way through all pages. */
const BUDGET = { first: 42, others: 91, decided: 120, charts: 143, style: 14 }

const sizeOf = (...texts: ReadonlyArray<string>) =>
  texts.reduce((total, text) => total + gzipSync(text).length, 0) / 1_000

describe("the console's files", () => {
  it.live("stay small", () =>
    Effect.gen(function* () {
      const { script, scripts, style } = yield* Effect.promise(files)
      const {
        "charts.js": charts = "",
        "decidePages.js": decidePages = "",
        "otherPages.js": otherPages = "",
        ...others
      } = scripts
      assert.deepStrictEqual(Object.keys(others), [])
      for (const [name, texts] of [
        ["first", [script]],
        ["others", [script, otherPages]],
        ["decided", [script, otherPages, decidePages]],
        ["charts", [script, otherPages, decidePages, charts]],
        ["style", [style]],
      ] as const)
        assert.isAtMost(sizeOf(...texts), BUDGET[name], name)
      // Words of the other languages are the server's.
      for (const text of [script, ...Object.values(scripts)]) assert.notInclude(text, de.page.states.down)
      // The server adds a version to this address: imported without, the first script would run a second time.
      const imported = Object.values(scripts).flatMap(
        (text) => text.match(/\}from\s*[`"'][^`"']+[`"']/g) ?? [],
      )
      assert.deepStrictEqual(
        imported,
        Array.from({ length: 3 }, () => '}from"./app.js"'),
      )
    }),
  )
})
