/** What the fields of every answer depend on. */
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

/** The methods whose answers a browser may show to a person. */
const SHOWN = new Set(["GET", "HEAD"])

const FIELDS = {
  // Whatever it is, it runs nothing, loads nothing, and stands in no frame.
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
  // No page of another origin embeds it; CORS, where it is allowed, is asked for separately (Fetch,
  // 3.7).
  "cross-origin-resource-policy": "same-origin",
  // Paths name agents, checks and incidents.
  "referrer-policy": "no-referrer",
} as const

/**
 * The header fields of answers that a browser may show, unless they have their own
 * (docs/decisions/0015).
 */
export const fieldsOfShown = (method: string): Readonly<Record<string, string>> =>
  SHOWN.has(method) ? FIELDS : {}
