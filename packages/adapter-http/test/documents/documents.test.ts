import { existsSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { isDeepStrictEqual } from "node:util"
import { assert, describe, expect, it } from "@effect/vitest"
import { Schema } from "effect"
import { HttpApi, type HttpApiGroup } from "effect/http-api"
import { TocsinApi } from "../../src/api.ts"
import { OpsApi } from "../../src/api/OpsApi.ts"
import type { Documentation, Examples, JsonObject } from "../../src/documents/Documentation.ts"
import { opsDocument, v1Document } from "../../src/documents/documents.ts"
import { opsDocumentation } from "../../src/documents/ops/opsDocumentation.ts"
import { v1Documentation } from "../../src/documents/v1/v1Documentation.ts"

/** A body of an endpoint, with what the documentation shows for it. */
interface Shown {
  readonly name: string
  readonly schema: Schema.Top
  /** What the service writes is shown as it writes it; what it reads may leave out what has defaults. */
  readonly isWritten: boolean
  readonly examples: Examples
}

const bodiesOf = <Id extends string, Groups extends HttpApiGroup.Constraint>(
  api: HttpApi.HttpApi<Id, Groups>,
  { operations }: Documentation,
) => {
  const shown: Array<Shown> = []
  const names: Array<string> = []
  HttpApi.reflect(api, {
    onGroup: () => {},
    onEndpoint: ({ endpoint, successes }) => {
      const name = endpoint.identifier
      names.push(name)
      const add = (
        what: string,
        schemas: Iterable<Schema.Top>,
        examples: Examples = {},
        isWritten = true,
      ) => {
        for (const schema of schemas) shown.push({ name: `${what} of ${name}`, schema, isWritten, examples })
      }
      add("the answer", Array.from(successes.values()).flat(), operations[name]?.success)
      const payloads = Array.from(endpoint.payload.values()).flatMap(({ schemas }) => schemas)
      add("the body", payloads, operations[name]?.request, false)
    },
  })
  return { shown, names }
}

const kept = (file: string) => fileURLToPath(new URL(`../../${file}`, import.meta.url))

const documents = [
  ["openapi.json", v1Document, v1Documentation, bodiesOf(TocsinApi, v1Documentation)],
  ["openapi.ops.json", opsDocument, opsDocumentation, bodiesOf(OpsApi, opsDocumentation)],
] as const

describe.each(documents)("the document kept in %s", (file, make, documentation, { shown, names }) => {
  it("is that of the definition", async () => {
    const path = kept(file)
    const text = existsSync(path) ? readFileSync(path, "utf8") : "null"
    const document: JsonObject = JSON.parse(JSON.stringify(make()))
    // `vitest --update=all` writes what has changed; the layout is the formatter's business.
    const same = isDeepStrictEqual(JSON.parse(text), document)
    await expect(same ? text : JSON.stringify(document, undefined, 2)).toMatchFileSnapshot(path)
  })

  it("says something of every endpoint, and of no other", () => {
    assert.sameMembers(Object.keys(documentation.operations), names)
  })

  it("uses the tags that it explains, and all of them", () => {
    const used = new Set(Object.values(documentation.operations).map(({ tag }) => tag))
    assert.sameMembers(
      Array.from(used),
      documentation.tags.map(({ name }) => name),
    )
  })

  it.each(shown)("shows examples that fit: $name", ({ schema, isWritten, examples }) => {
    assert.isNotEmpty(examples)
    // What endpoints are made of needs no services.
    const codec = schema as Schema.Codec<unknown, unknown>
    for (const [name, { value }] of Object.entries(examples)) {
      const decoded = Schema.decodeUnknownSync(codec, { onExcessProperty: "error" })(value)
      if (isWritten) assert.deepStrictEqual(Schema.encodeUnknownSync(codec)(decoded), value, name)
    }
  })
})
