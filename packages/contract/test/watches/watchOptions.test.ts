import { assert, it } from "@effect/vitest"
import { watchOptions } from "../../src/watches/watchOptions.ts"
import { probes } from "../../src/watches/WatchProbe.ts"

it("agents know the options of watches, and no others", () => {
  for (const [kind, { schema }] of Object.entries(probes))
    assert.sameMembers([...watchOptions[kind as keyof typeof probes]], Object.keys(schema.fields), kind)
})
