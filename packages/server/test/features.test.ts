import { assert, it } from "@effect/vitest"
import { features } from "../src/features.ts"
import { definitions } from "../src/settings/Settings.ts"

it("each setting of a feature stands in the table, after the one that it follows", () => {
  const names = Object.keys(definitions)
  for (const { settings } of features)
    for (const [before, own] of Object.entries(settings))
      assert.deepStrictEqual(
        Object.keys(own).filter(
          (name) => names.indexOf(name) <= names.indexOf(before) || !names.includes(before),
        ),
        [],
        before,
      )
})
