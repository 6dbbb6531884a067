/** The form in which senders write dates (RFC 9110, 5.6.7). */
const HTTP_DATE = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/
const MILLIS_PER_SECOND = 1_000

/** The header fields of an answer that say how long to wait. */
export interface RetryFields {
  readonly retryAfter?: string | undefined
  readonly date?: string | undefined
}

/**
 * An answer's `Retry-After` (RFC 9110, 10.2.3) in milliseconds. A date counts from the answer's own
 * Date, because the two clocks may differ.
 */
export const retryAfterMillis = ({ retryAfter, date }: RetryFields, now: number): number | undefined => {
  const asked = retryAfter?.trim() ?? ""
  if (/^\d{1,9}$/.test(asked)) return Number(asked) * MILLIS_PER_SECOND
  if (!HTTP_DATE.test(asked)) return undefined
  const theirs = Date.parse(date ?? "")
  const wait = Date.parse(asked) - (Number.isNaN(theirs) ? now : theirs)
  return Number.isNaN(wait) ? undefined : Math.max(0, wait)
}
