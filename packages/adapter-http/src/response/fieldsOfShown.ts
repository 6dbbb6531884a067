/** What a browser can be led to, and shows. */
const SHOWN = new Set(["GET", "HEAD"])

const FIELDS = {
  // Whatever it is, it runs nothing, loads nothing, and stands in no frame.
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
  // No page of another origin embeds it; CORS, where it is allowed, is asked for separately (Fetch, 3.7).
  "cross-origin-resource-policy": "same-origin",
  // Paths name agents, checks and incidents.
  "referrer-policy": "no-referrer",
} as const

/** The header fields of answers that a browser may show to a person, unless they have their own (docs/decisions/0015). */
export const fieldsOfShown = (method: string): Readonly<Record<string, string>> =>
  SHOWN.has(method) ? FIELDS : {}
