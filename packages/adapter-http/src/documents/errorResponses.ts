import type { ErrorCode } from "@tocsin/core/contract/Errors"
import type { OpenApi } from "effect/http-api"
import type { Documentation, JsonObject } from "./Documentation.ts"
import { errorExample } from "./errorExamples.ts"
import { headersOf } from "./headersOf.ts"

/** The codes of errors by the names of their responses, as {@link errorName} makes them. */
const codes: Readonly<Record<string, ReadonlyArray<ErrorCode>>> = {
  Validation: ["validation"],
  Unauthorized: ["unauthorized"],
  Forbidden: ["forbidden"],
  AgentBlocked: ["agent_blocked"],
  AgentBlockedOrAgentNotAccepted: ["agent_blocked", "agent_not_accepted"],
  NotFound: ["not_found"],
  Conflict: ["conflict"],
  PayloadTooLarge: ["payload_too_large"],
  RateLimited: ["rate_limited"],
  Internal: ["internal"],
  NotReady: ["not_ready"],
}

const schemaNames = (schema: JsonObject): ReadonlyArray<string> => {
  const { $ref, anyOf } = schema
  if (typeof $ref === "string") return [$ref.slice($ref.lastIndexOf("/") + 1)]
  return Array.isArray(anyOf) ? anyOf.flatMap(schemaNames) : []
}

/** The name of an error's response among the document's components, after the schemas of its body. */
export const errorName = ({ content }: OpenApi.OpenApiSpecResponse): string =>
  Object.values(content ?? {})
    .flatMap(({ schema }) => schemaNames(schema))
    .map((name) => name.replace(/Error$/, ""))
    .join("Or")

/** The response of an error as a component of the document. */
export const errorResponse = (
  response: OpenApi.OpenApiSpecResponse,
  { responses: texts, messages }: Documentation,
): JsonObject => {
  const name = errorName(response)
  const [media] = Object.values(response.content ?? {})
  const examples = (codes[name] ?? []).map((code) => [code, errorExample(code, messages)])
  return {
    description: texts[name] ?? response.description.replaceAll(" | ", " Or: "),
    headers: headersOf(response),
    content: { "application/json": { schema: media?.schema, examples: Object.fromEntries(examples) } },
  }
}
