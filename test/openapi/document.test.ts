import { assert, describe, it } from "@effect/vitest"
import { Validator } from "@seriousme/openapi-schema-validator"
import { OUTBOX_ITEM } from "@tocsin/adapter-http/documents/story"
import { resultOfStatus } from "@tocsin/adapter-notify/http/deliveryResult"
import { opsDocument, v1Document } from "@tocsin/adapter-http/documents/documents"
import type { OpenApi, Response } from "./OpenApi.ts"
import { operationsOf, resolved } from "./OpenApi.ts"
import { Schemas } from "./Schemas.ts"

const parsed = (document: object): OpenApi => JSON.parse(JSON.stringify(document))

const documents = [
  { name: "v1", document: parsed(v1Document()) },
  { name: "operations", document: parsed(opsDocument()) },
]

/** Texts that people read: sentences, not names. */
const isText = (text: unknown): boolean => typeof text === "string" && text.length > 10

describe.each(documents)("the OpenAPI document of $name", ({ document }) => {
  const operations = operationsOf(document)
  const rows = operations.map((placed) => [`${placed.method} ${placed.path}`, placed] as const)
  const schemas = new Schemas(document)

  it("is valid OpenAPI 3.1", async () => {
    const validator = new Validator()
    const { valid, errors } = await validator.validate(JSON.parse(JSON.stringify(document)))
    assert.deepStrictEqual({ valid, errors }, { valid: true, errors: undefined })
    assert.strictEqual(validator.version, "3.1")
  })

  it("says what it is, under which licence, and where", () => {
    const { title, summary, description, version, license } = document.info
    for (const text of [summary, description]) assert.isTrue(isText(text))
    assert.match(String(title), /^Tocsin/)
    assert.strictEqual(version, "1.0.0")
    assert.deepStrictEqual(license, { name: "MIT", identifier: "MIT" })
    assert.lengthOf(document.servers, 1)
  })

  it("has operations of different names", () => {
    const names = operations.map(({ operation }) => operation.operationId)
    assert.sameMembers(Array.from(new Set(names)), names)
    for (const name of names) assert.match(name, /^[a-z][A-Za-z]+$/)
  })

  it.each(rows)("describes %s in full", (_, { method, path, operation }) => {
    assert.isTrue(isText(operation.summary) && isText(operation.description))
    const tags = document.tags.map(({ name }) => name)
    assert.lengthOf(operation.tags, 1)
    assert.includeMembers(tags, [...operation.tags])
    const schemes = operation.security.flatMap((requirement) => Object.keys(requirement))
    const isOpen = operation.tags.includes("Health")
    assert.lengthOf(schemes, isOpen ? 0 : 1)
    for (const scheme of schemes) {
      assert.deepInclude(document.components.securitySchemes[scheme], { type: "http", scheme: "bearer" })
    }
    const inPath = Array.from(path.matchAll(/\{(\w+)\}/g), ([, name = ""]) => name)
    const named = operation.parameters.filter((parameter) => parameter.in === "path")
    assert.sameMembers(
      named.map(({ name }) => name),
      inPath,
    )
    for (const { name, description, required, in: place, schema, example } of operation.parameters) {
      assert.isTrue(isText(description), name)
      if (place === "path") assert.isTrue(required, name)
      if (required) assert.deepStrictEqual(schemas.problemsOf(schema, example), [], name)
    }
    if (!isOpen) assert.includeMembers(Object.keys(operation.responses), ["401", "500"])
    if (!isOpen && method !== "GET") assert.property(operation.responses, "403")
  })

  it.each(rows)("describes the answers of %s, with examples that fit", (_, { operation }) => {
    const answers = Object.entries(operation.responses)
    assert.lengthOf(
      answers.filter(([status]) => status.startsWith("2")),
      1,
    )
    for (const [status, answer] of answers) {
      const { description, headers, content } = resolved<Response>(document, answer)
      assert.isTrue(isText(description), status)
      assert.property(headers, "X-Request-Id", status)
      if (status === "429") assert.property(headers, "Retry-After")
      assert.deepStrictEqual(Object.keys(content ?? {}), ["application/json"])
    }
    const media = [
      ...answers.flatMap(([, answer]) => Object.values(resolved<Response>(document, answer).content ?? {})),
      ...Object.values(operation.requestBody?.content ?? {}),
    ]
    for (const { schema, examples = {} } of media) {
      assert.isNotEmpty(examples)
      for (const { value } of Object.values(examples)) {
        assert.deepStrictEqual(schemas.problemsOf(schema, value), [])
      }
    }
  })

  it("names and describes its schemas", () => {
    for (const [name, { description }] of Object.entries(document.components.schemas)) {
      assert.match(name, /^([A-Z][a-z]+)+$/)
      assert.isTrue(isText(description), name)
    }
  })
})

it("the example of an outbox item has an error that a receiver's answer leads to", () => {
  assert.deepStrictEqual(resultOfStatus(503, undefined), {
    outcome: "deferred",
    error: OUTBOX_ITEM.last_error,
  })
})
