import { assert, it } from "@effect/vitest"
import { Result, Schema, SchemaParser } from "effect"
import { closedStruct } from "../../src/formats/Fields.ts"
import { watchOptions } from "../../src/watches/watchOptions.ts"
import { probes } from "../../src/watches/WatchProbe.ts"

it("agents know the options of watches, and no others", () => {
  for (const [kind, { schema }] of Object.entries(probes))
    assert.sameMembers([...watchOptions[kind as keyof typeof probes]], Object.keys(schema.fields), kind)
})

it("a list of no secrets is refused by the schema, and so by the documents", () => {
  const probe = { http: { url: "https://a.example/", secret: [] } }
  const decode = SchemaParser.decodeUnknownResult(closedStruct(probes))
  assert.isTrue(Result.isFailure(decode(probe)))
  const document = JSON.stringify(Schema.toJsonSchemaDocument(probes.http.schema))
  const [, secret = ""] = /"secret":(.*?)"redirects"/.exec(document) ?? []
  assert.include(secret, '"minItems":1')
})
