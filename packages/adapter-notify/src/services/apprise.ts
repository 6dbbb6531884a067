import { defused, type Service, titled } from "./Service.ts"

const TYPES = {
  critical: "failure",
  warning: "warning",
  unknown: "warning",
  resolved: "success",
  test: "info",
} as const

/**
 * The services of a key of the Apprise API, which cuts texts for each of them; 32 KB. It answers 204 if it has no such
 * key, and 424 if one of them failed (github.com/caronc/apprise-api, README, November 2026).
 */
export const apprise: Service = {
  limit: 8_000,
  escape: defused,
  hasTitle: true,
  verdicts: { 204: "refused", 424: "deferred" },
  // The others got the message, and get each attempt again.
  triedAgain: { status: 424, after: [60, 300] },
  request: ({ text, tone }, { definition: { tag } }) => {
    const { message: body, title } = titled(text)
    return { body: { title, body, type: TYPES[tone], format: "text", ...(tag && { tag }) } }
  },
}
