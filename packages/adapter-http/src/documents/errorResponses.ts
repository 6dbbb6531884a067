import type { ErrorCode } from "@tocsin/contract/formats/Errors"
import { SignInRefusals } from "@tocsin/contract/signIn/SignInRefusals"
import { String } from "effect"
import type { OpenApi } from "effect/http-api"
import { REQUEST_ID } from "./examples.ts"

/** A JSON object, of which nothing more is known. */
export type JsonObject = Readonly<Record<string, unknown>>

/** Header fields that every answer has, as components of the document. */
export const headersOfEvery: JsonObject = {
  "X-Request-Id": {
    description: "Names the request: its own X-Request-Id where that is one, otherwise new.",
    required: true,
    schema: { type: "string", pattern: "^[A-Za-z0-9._:-]{1,128}$" },
  },
  "Cache-Control": {
    description: "Nothing of it may be kept.",
    required: true,
    schema: { type: "string", enum: ["no-store"] },
  },
}

/** Header fields that some errors have, by the names that the definition gives them. */
const headersOfErrors: Readonly<Record<string, readonly [name: string, header: JsonObject]>> = {
  "retry-after": [
    "Retry-After",
    {
      description: "After how many seconds another try may succeed (RFC 9110, 10.2.3).",
      schema: { type: "integer", minimum: 0, maximum: 999_999_999 },
      example: 1,
    },
  ],
  "www-authenticate": [
    "WWW-Authenticate",
    {
      description: "How to authenticate (RFC 9110, 11.6.1).",
      schema: { type: "string", enum: ["Bearer"] },
    },
  ],
}

const references = Object.fromEntries(
  Object.keys(headersOfEvery).map((name) => [name, { $ref: `#/components/headers/${name}` }]),
)

/** A proxy that compresses a stream would keep the ends of its events back. */
const headersOfStream: JsonObject = {
  "Cache-Control": {
    description: "Nothing of it may be kept, nor changed on its way.",
    required: true,
    schema: { type: "string", enum: ["no-store, no-transform"] },
  },
}

/** The header fields of an answer: those of every one, and those that its definition gives it. */
export const headersOf = ({ content = {}, headers = {} }: OpenApi.OpenApiSpecResponse): JsonObject => {
  const own = Object.entries(headers).map(([key, { schema, required }]) => {
    const [name, header] = headersOfErrors[key] ?? [key, { schema }]
    return [name, { ...header, required }]
  })
  const streamed = Object.hasOwn(content, "text/event-stream") ? headersOfStream : {}
  return { ...references, ...streamed, ...Object.fromEntries(own) }
}

/** A message of the service for each code. Tests compare them with its answers. */
const usual: Readonly<Record<ErrorCode, string>> = {
  validation: "agent_id must be 1 to 128 letters, digits or the characters . _ : -",
  unauthorized: "send the header Authorization: Bearer with a token of 1 to 512 visible ASCII characters",
  forbidden: "this operation requires the role admin; your token has the role read",
  agent_blocked: "this agent key is blocked; to let it register again, delete its blacklist row",
  agent_not_accepted:
    "this agent key is not accepted for this agent_id; send a heartbeat, then have an operator accept the agent",
  not_found: "no agent has this agent_id; list agents with GET /api/v1/agents",
  conflict: "this agent key belongs to another agent_id; give each agent a key of its own",
  payload_too_large: "the request body must not be larger than 1 MiB (1048576 bytes)",
  rate_limited: "too many heartbeats; slow down and try again in 1 s",
  internal: "the storage is unreachable or refuses writes; try again later",
  not_ready: "the storage is unreachable or refuses writes, or the service is shutting down",
}

/** The errors whose code is that of another one, with their messages. */
const OF_ANOTHER_CODE: Readonly<Record<string, { readonly code: ErrorCode; readonly message: string }>> = {
  PreconditionFailed: {
    code: "conflict",
    message:
      "another policy is in force: compare yours with tocsin policy get or GET /ops/v1/policy, and apply it again",
  },
  IssuerFailed: { code: "internal", message: SignInRefusals.unreachable[1] },
}

/** A document's texts about errors beyond the definition. */
export interface ErrorTexts {
  /** Descriptions of errors by the names of their responses, if the general ones are too narrow. */
  readonly responses: Readonly<Record<string, string>>
  /** Example messages, if they are not the usual ones. */
  readonly messages: Readonly<Partial<Record<ErrorCode, string>>>
}

const schemaNames = (schema: JsonObject): ReadonlyArray<string> => {
  const { $ref, anyOf } = schema
  if (typeof $ref === "string") return [$ref.slice($ref.lastIndexOf("/") + 1)]
  // Its members are schemas.
  return Array.isArray(anyOf) ? (anyOf as ReadonlyArray<JsonObject>).flatMap(schemaNames) : []
}

const errorNames = ({ content }: OpenApi.OpenApiSpecResponse): ReadonlyArray<string> =>
  Object.values(content ?? {})
    .flatMap(({ schema }) => schemaNames(schema))
    .map((name) => name.replace(/Error$/, ""))

/** The name of an error's response among the document's components. */
export const errorName = (response: OpenApi.OpenApiSpecResponse): string => errorNames(response).join("Or")

const exampleOf = (name: string, { messages }: ErrorTexts) => {
  // Its code in the form of a type's name, as the definition of the API has it.
  const own = String.pascalToSnake(name) as ErrorCode
  const { code, message } = OF_ANOTHER_CODE[name] ?? { code: own, message: messages[own] ?? usual[own] }
  const value = { error: { code, message, request_id: REQUEST_ID } }
  return [code, { summary: `An error with the code ${code}`, value }] as const
}

/** The response of an error as a component of the document. */
export const errorResponse = (response: OpenApi.OpenApiSpecResponse, texts: ErrorTexts): JsonObject => {
  const [media] = Object.values(response.content ?? {})
  const examples = Object.fromEntries(errorNames(response).map((name) => exampleOf(name, texts)))
  return {
    description: texts.responses[errorName(response)] ?? response.description.replaceAll(" | ", " Or: "),
    headers: headersOf(response),
    content: { "application/json": { schema: media?.schema, examples } },
  }
}
