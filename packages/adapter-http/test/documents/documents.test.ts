import { existsSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { isDeepStrictEqual } from "node:util"
import { assert, describe, expect, it } from "@effect/vitest"
import { Schema, SchemaAST } from "effect"
import { HttpApi, type HttpApiGroup, type OpenApi } from "effect/http-api"
import { TocsinApi } from "@tocsin/contract/api/TocsinApi"
import { OpsApi } from "@tocsin/contract/api/OpsApi"
import { opsDocument, v1Document } from "../../src/documents/DocumentRoutes.ts"
import { opsTags } from "../../src/features.ts"
import type { Examples, Operations } from "../../src/documents/examples.ts"
import { v1Tags } from "../../src/documents/v1Operations.ts"
import type { JsonObject } from "../../src/documents/errorResponses.ts"

const tags = [...v1Tags, ...opsTags]
const operations: Operations = Object.assign({}, ...tags.map(([, , named]) => named))

/** A body of an endpoint, with what the documentation shows for it. */
interface Shown {
  readonly name: string
  readonly schema: Schema.Top
  /**
   * Examples show written bodies as the service writes them; read bodies may leave out fields with
   * defaults.
   */
  readonly isWritten: boolean
  readonly examples: Examples
}

const bodiesOf = <Id extends string, Groups extends HttpApiGroup.Constraint>(
  api: HttpApi.HttpApi<Id, Groups>,
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
      const { byStatus, success } = operations[name] ?? {}
      for (const [status, schemas] of successes) add("the answer", schemas, byStatus?.[status] ?? success)
      const payloads = Array.from(endpoint.payload.values()).flatMap(({ schemas }) => schemas)
      add("the body", payloads, operations[name]?.request, false)
    },
  })
  return { shown, names }
}

/** The fields of a schema whose texts a document does not get, because they decode from something else. */
const lostTexts = (ast: SchemaAST.AST, seen: Set<SchemaAST.AST> = new Set()): ReadonlyArray<string> => {
  if (seen.has(ast)) return []
  seen.add(ast)
  if (SchemaAST.isUnion(ast)) return ast.types.flatMap((each) => lostTexts(each, seen))
  if (SchemaAST.isArrays(ast)) return [...ast.elements, ...ast.rest].flatMap((each) => lostTexts(each, seen))
  if (!SchemaAST.isObjects(ast)) return []
  return ast.propertySignatures.flatMap(({ name, type }) => {
    const text = type.context?.annotations?.["description"]
    const shown = SchemaAST.toEncoded(type)
    const isShown =
      text === undefined ||
      [shown.annotations, shown.context?.annotations].some((all) => all?.["description"] === text)
    return [...(isShown ? [] : [`${String(name)}: ${String(text)}`]), ...lostTexts(type, seen)]
  })
}

it("there are examples of every endpoint, and of no other", () => {
  const names = documents.flatMap(([, , bodies]) => bodies.names)
  assert.sameMembers(
    tags.flatMap(([, , named]) => Object.keys(named)),
    names,
  )
})

const kept = (file: string) => fileURLToPath(new URL(`../../${file}`, import.meta.url))

const documents = [
  ["openapi.json", v1Document, bodiesOf(TocsinApi)],
  ["openapi.ops.json", opsDocument, bodiesOf(OpsApi)],
] as const

describe.each(documents)("the document kept in %s", (file, make, { shown }) => {
  it("is that of the definition", async () => {
    const path = kept(file)
    const text = existsSync(path) ? readFileSync(path, "utf8") : "null"
    const document: JsonObject = JSON.parse(JSON.stringify(make()))
    // `vitest --update=all` writes what has changed; the layout is the formatter's business.
    const same = isDeepStrictEqual(JSON.parse(text), document)
    await expect(same ? text : JSON.stringify(document, undefined, 2)).toMatchFileSnapshot(path)
  })

  it("uses the tags that it explains, and all of them", () => {
    const { tags, paths } = make() as unknown as OpenApi.OpenAPISpec
    const used = Object.values(paths).flatMap((item) =>
      (Object.values(item) as Array<OpenApi.OpenAPISpecOperation>).flatMap(({ tags: own }) => own),
    )
    assert.sameMembers(
      Array.from(new Set(used)),
      tags.map(({ name }) => name),
    )
  })

  it("has the text of each field, whatever it decodes to", () => {
    const seen = new Set<SchemaAST.AST>()
    assert.deepStrictEqual(
      shown.flatMap(({ schema }) => lostTexts(schema.ast, seen)),
      [],
    )
  })

  it.each(shown)("shows examples that fit: $name", ({ schema, isWritten, examples }) => {
    assert.isNotEmpty(examples)
    // Endpoint schemas need no services.
    const codec = schema as Schema.Codec<unknown, unknown>
    for (const [name, [, value]] of Object.entries(examples)) {
      const decoded = Schema.decodeUnknownSync(codec, { onExcessProperty: "error" })(value)
      if (isWritten) assert.deepStrictEqual(Schema.encodeUnknownSync(codec)(decoded), value, name)
    }
  })
})
