/** What the header fields that all answers have depend on. */
export interface Answered {
  readonly requestId: string
  /** Whether the connection ends with this answer. */
  readonly isFinal: boolean
}

/**
 * The header fields that every answer has, of agents too: its request id, no caching (docs/rules.md#request-ids), and no guessing at what
 * kind of content it is. More would be bytes that agents pay for and nobody reads (docs/decisions/0015).
 */
export const fieldsOfEvery = ({ requestId, isFinal }: Answered): Record<string, string> => ({
  "x-request-id": requestId,
  "cache-control": "no-store",
  "x-content-type-options": "nosniff",
  ...(isFinal && { connection: "close" }),
})
