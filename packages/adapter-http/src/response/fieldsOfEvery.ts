/** What the header fields that all answers have depend on. */
export interface Answered {
  /** The target of the request. */
  readonly url: string
  readonly requestId: string
  /** Whether the connection ends with this answer. */
  readonly isFinal: boolean
}

/** The header fields that every answer has: its request id, and no caching of the API (decisions §1). */
export const fieldsOfEvery = ({ url, requestId, isFinal }: Answered): Record<string, string> => ({
  "x-request-id": requestId,
  ...(url.startsWith("/api/v1/") && { "cache-control": "no-store" }),
  ...(isFinal && { connection: "close" }),
})
