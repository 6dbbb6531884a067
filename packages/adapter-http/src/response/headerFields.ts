import { Context } from "effect"

/** The id of the current request, in the header X-Request-Id and in error bodies. */
export const RequestId = Context.Reference<string>("@tocsin/adapter-http/request/RequestId", {
  defaultValue: () => "",
})

const INBOUND = /^[A-Za-z0-9._:-]{1,128}$/

/** The id that a client gave its request, if it is well-formed (docs/rules.md#request-ids). */
export const inboundRequestId = (header: string | undefined): string | undefined =>
  header !== undefined && INBOUND.test(header) ? header : undefined

export interface Answered {
  readonly requestId: string
  /** Whether the connection closes after this answer. */
  readonly isFinal: boolean
}

/**
 * The header fields of every answer, to agents too: its request id (docs/rules.md#request-ids), no
 * caching, and no guessing at the content type. Agents would pay for more (docs/decisions/0015).
 */
export const fieldsOfEvery = ({ requestId, isFinal }: Answered): Record<string, string> => ({
  "x-request-id": requestId,
  "cache-control": "no-store",
  "x-content-type-options": "nosniff",
  ...(isFinal && { connection: "close" }),
})

const MILLIS_PER_SECOND = 1_000

let second = 0
let date = ""

/**
 * A time in the form of the field Date, formatted once a second. Agents follow it, so it is of the
 * service's clock, and not the machine's, which node:http would write.
 */
export const httpDate = (millis: number): string => {
  const now = Math.floor(millis / MILLIS_PER_SECOND)
  if (now !== second) {
    second = now
    date = new Date(now * MILLIS_PER_SECOND).toUTCString()
  }
  return date
}

type Fields = Readonly<Record<string, string>>

/** The methods whose answers a browser may show to a person. */
const SHOWN = new Set(["GET", "HEAD"])

/** The header fields of answers that a browser may show. */
const FIELDS = {
  // An answer of any type runs nothing, loads nothing, and stands in no frame.
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
  // No page of another origin embeds it; CORS, where it is allowed, is asked for separately (Fetch,
  // 3.7).
  "cross-origin-resource-policy": "same-origin",
  // Paths name agents, checks and incidents.
  "referrer-policy": "no-referrer",
} as const

interface AnsweredBy extends Answered {
  readonly method: string
  /** The fields that the API adds beside these. */
  readonly more: Fields
}

/** All header fields of an answer, with its own ones (docs/decisions/0015). */
export const allFields = (own: Fields, { method, more, ...answered }: AnsweredBy): Fields => {
  const vary = [own["vary"], more["vary"]].filter((field) => field !== undefined)
  return {
    ...(SHOWN.has(method) && FIELDS),
    ...fieldsOfEvery(answered),
    ...more,
    // An answer's own fields take precedence: a page has its own policy.
    ...own,
    ...(vary.length > 0 && { vary: vary.join(", ") }),
  }
}
