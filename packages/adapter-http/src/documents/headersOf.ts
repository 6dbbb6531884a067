import type { OpenApi } from "effect/http-api"
import type { JsonObject } from "./Documentation.ts"

/** Header fields that some errors have, by the names that the definition gives them. */
const ofErrors: Readonly<Record<string, { readonly name: string; readonly header: JsonObject }>> = {
  "retry-after": {
    name: "Retry-After",
    header: {
      description: "After how many seconds another try may succeed (RFC 9110, 10.2.3).",
      schema: { type: "integer", minimum: 0, maximum: 999_999_999 },
      example: 1,
    },
  },
  "www-authenticate": {
    name: "WWW-Authenticate",
    header: {
      description: "How to authenticate (RFC 9110, 11.6.1).",
      schema: { type: "string", enum: ["Bearer"] },
    },
  },
}

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

const references = Object.fromEntries(
  Object.keys(headersOfEvery).map((name) => [name, { $ref: `#/components/headers/${name}` }]),
)

/** The header fields of an answer: those of every one, and those that its definition gives it. */
export const headersOf = ({ headers = {} }: OpenApi.OpenApiSpecResponse): JsonObject => {
  const own = Object.entries(headers).map(([key, { schema, required }]) => {
    const known = ofErrors[key]
    return known === undefined ? [key, { required, schema }] : [known.name, { ...known.header, required }]
  })
  return { ...references, ...Object.fromEntries(own) }
}
