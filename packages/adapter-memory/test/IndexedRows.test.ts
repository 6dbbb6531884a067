import { assert, it } from "@effect/vitest"
import { forAll } from "@tocsin/testing/forAll"
import { Effect } from "effect"
import * as fc from "fast-check"
import { IndexedRows } from "../src/IndexedRows.ts"

const COLOURS = ["red", "green", "blue"] as const

/** Few keys and values, so that rows are replaced, move to other values and come back. */
const step = fc.record({
  act: fc.constantFrom("set", "set", "set", "delete", "clear"),
  key: fc.nat(4).map(String),
  colour: fc.constantFrom(...COLOURS, undefined),
})

it.effect("an index finds the rows that have a value, whatever was set and removed before", () =>
  forAll(fc.array(step, { maxLength: 30 }), { runs: 300 }, (steps) =>
    Effect.sync(() => {
      const rows = new IndexedRows({ colour: (row: (typeof steps)[number]) => row.colour })
      for (const row of steps) {
        if (row.act === "set") rows.set(row.key, row)
        else if (row.act === "delete") rows.delete(row.key)
        else rows.clear()
        const colours = new Set(Array.from(rows.values(), ({ colour }) => colour))
        colours.delete(undefined)
        assert.strictEqual(rows.valuesOf("colour"), colours.size)
        for (const colour of COLOURS)
          assert.sameMembers(
            Array.from(rows.of("colour", colour)),
            Array.from(rows.values()).filter((one) => one.colour === colour),
          )
      }
    }),
  ),
)
