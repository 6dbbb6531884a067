import type { JsonObject } from "./plainSchema.ts"

/** Header fields that some errors have, by the names that the definition gives them. */
export const headersOfErrors: Readonly<
  Record<string, { readonly name: string; readonly header: JsonObject }>
> = {
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

/** The header field of acts, with the answers that it leads to (docs/rules.md#acting-once). */
export const IDEMPOTENCY_KEY = {
  parameter: {
    name: "Idempotency-Key",
    in: "header",
    description: "Repeats within 24 hours with the same key, path and body get the first answer.",
    required: false,
    schema: { type: "string", pattern: "^[!-~]{1,128}$" },
  },
  responses: { 400: "Validation", 409: "Conflict", 429: "RateLimited" },
} as const
