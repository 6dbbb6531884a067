import { assert, describe, it } from "@effect/vitest"
import * as MemoryStorage from "@tocsin/adapter-memory/MemoryStorage"
import { Effect } from "effect"
import type { Answer } from "../http/client/Answer.ts"
import { AnswerRules } from "./AnswerRules.ts"
import { DOCUMENTS, Judge } from "./Judge.ts"
import { type OpenApi, operationsOf, type PlacedOperation } from "./OpenApi.ts"
import type { Generated } from "./requests.ts"
import { DocumentedServer, UI_TOKEN } from "./DocumentedServer.ts"

/** A document as the tests here change it. */
type Mutable<A> = { -readonly [K in keyof A]: Mutable<A[K]> }

/** The answer for an unknown agent, and its operation. */
const notFound = Effect.gen(function* () {
  const judge = yield* Judge.of(DOCUMENTS.v1)
  const { ask } = yield* DocumentedServer
  const answer = yield* ask("GET", "/api/v1/agents/nobody", UI_TOKEN)
  return { document: judge.document, answer }
})

const getAgentOf = (document: OpenApi): PlacedOperation =>
  operationsOf(document).find(({ operation }) => operation.operationId === "getAgent") ??
  assert.fail("it is gone")

const judged = (document: OpenApi, answer: Answer): ReadonlyArray<string> =>
  new AnswerRules(document).problemsOf(getAgentOf(document).operation, answer)

const changed = (document: OpenApi, change: (copy: Mutable<OpenApi>) => void): OpenApi => {
  const copy = structuredClone(document) as Mutable<OpenApi>
  change(copy)
  return copy
}

/** Controls: the judge must find every kind of fault. */
describe("the judge of answers", () => {
  it.live("finds what a document does not declare", () =>
    Effect.gen(function* () {
      const { document, answer } = yield* notFound
      assert.strictEqual(answer.status, 404)
      assert.deepStrictEqual(judged(document, answer), [])

      const withoutStatus = changed(document, ({ paths }) => {
        delete paths["/api/v1/agents/{agent_id}"]?.["get"]?.responses["404"]
      })
      assert.deepStrictEqual(judged(withoutStatus, answer), ["status 404 is not declared"])

      const withoutHeader = changed(document, ({ components }) => {
        delete components.responses["NotFound"]?.headers?.["X-Request-Id"]
      })
      assert.deepStrictEqual(judged(withoutHeader, answer), ["header x-request-id is not declared"])

      const withOtherBody = changed(document, ({ components }) => {
        const schema = components.schemas["NotFoundError"]?.properties?.["error"]?.properties?.["code"]
        if (schema !== undefined) schema.enum = ["gone"]
      })
      assert.match(judged(withOtherBody, answer).join(), /^body: \/error\/code must be equal/)

      const withOtherMedia = changed(document, ({ components }) => {
        const response = components.responses["NotFound"]
        if (response !== undefined) response.content = {}
      })
      assert.deepStrictEqual(judged(withOtherMedia, answer), ["media type application/json is not declared"])
    }).pipe(Effect.provide(DocumentedServer.layer(MemoryStorage.layer))),
  )

  it.live("finds wrong answers", () =>
    Effect.gen(function* () {
      const { document, answer } = yield* notFound
      const { "x-request-id": _, ...headers } = answer.headers
      assert.deepStrictEqual(judged(document, { ...answer, headers }), ["header x-request-id is missing"])
      const talkative = { ...answer, headers: { ...answer.headers, "x-powered-by": "curiosity" } }
      assert.deepStrictEqual(judged(document, talkative), ["header x-powered-by is not declared"])
      const empty = { ...answer, text: "", body: undefined }
      assert.isNotEmpty(judged(document, empty))
      const generous = { ...answer, body: { ...Object(answer.body), more: 1 } }
      assert.match(judged(document, generous).join(), /must NOT have additional properties/)
    }).pipe(Effect.provide(DocumentedServer.layer(MemoryStorage.layer))),
  )

  it.live("finds broken promises", () =>
    Effect.gen(function* () {
      const judge = yield* Judge.of(DOCUMENTS.v1)
      const { ask } = yield* DocumentedServer
      const placed =
        operationsOf(judge.document).find(({ path }) => path === "/api/v1/agents") ?? assert.fail()
      const answer = yield* ask("GET", "/api/v1/agents", UI_TOKEN)
      const request: Generated = {
        placed,
        path: {},
        query: [],
        json: undefined,
        token: UI_TOKEN,
        method: "GET",
        target: "/api/v1/agents",
        headers: {},
      }
      assert.deepStrictEqual(judge.problemsOf(request, answer), [])
      const problemOf = (changes: Partial<Generated>) => judge.problemsOf({ ...request, ...changes }, answer)
      assert.deepStrictEqual(problemOf({ token: "nobody" }), ["its token allows no such thing"])
      const outside = ["it is outside the document and was taken"]
      assert.deepStrictEqual(problemOf({ query: [["limit", "501"]] }), outside)
      assert.deepStrictEqual(problemOf({ query: [["back", "TRUE"]] }), outside)
      const refusal = yield* ask("GET", "/api/v1/agents?limit=0", UI_TOKEN)
      assert.deepStrictEqual(judge.problemsOf(request, refusal), ["it fits the document and was refused"])
    }).pipe(Effect.provide(DocumentedServer.layer(MemoryStorage.layer))),
  )
})
