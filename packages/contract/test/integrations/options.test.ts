import { assert, describe, it } from "@effect/vitest"
import { Result, SchemaParser } from "effect"
import { IntegrationOptions } from "../../src/integrations/Integrations.ts"

const decode = SchemaParser.decodeUnknownResult(IntegrationOptions)

describe("options of an integration", () => {
  it.each([
    [{ rules: [{ match: { header: { "X-Host": "*" } } }] }, true],
    [{ rules: [{ match: { header: { "no name": "*" } } }] }, false],
    [{ rules: [{ match: { header: { "X-Host": "*", "X:": "*" } } }] }, false],
    [{ map: { check: "/a", status: "/b", labels: { host: "/h" } } }, true],
    [{ map: { check: "/a", status: "/b", labels: { "": "/h" } } }, false],
  ])("%j: refused by a name that is none, and not read without it", (options, isRight) => {
    assert.strictEqual(Result.isSuccess(decode(options)), isRight)
  })
})
