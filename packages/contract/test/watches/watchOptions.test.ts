import { assert, it } from "@effect/vitest"
import { Result, SchemaParser } from "effect"
import { closedStruct } from "../../src/formats/Fields.ts"
import { probeProblems } from "../../src/watches/probeProblems.ts"
import { watchOptions } from "../../src/watches/watchOptions.ts"
import { probes } from "../../src/watches/WatchProbe.ts"

it("agents know the options of watches, and no others", () => {
  for (const [kind, { schema }] of Object.entries(probes))
    assert.sameMembers([...watchOptions[kind as keyof typeof probes]], Object.keys(schema.fields), kind)
})

it("a list of no secrets is refused, and shown where it was stored before", () => {
  const probe = { http: { url: "https://a.example/", secret: [] } }
  const decode = SchemaParser.decodeUnknownResult(closedStruct(probes))
  assert.isTrue(Result.isSuccess(decode(probe)))
  assert.deepStrictEqual(probeProblems(probe), [
    { path: ["http", "secret"], message: "must have at least 1 entry" },
  ])
})
