import { plain } from "@tocsin/core/heart/notifications/cutText"
import type { Service } from "./Service.ts"

/**
 * A message by signal-cli-rest-api, as plain text: a longer one becomes a file. It answers 400 to every failure, also
 * while Signal is unreachable (github.com/bbernhard/signal-cli-rest-api, `src/api/api.go`, November 2026).
 */
export const signal: Service = {
  limit: 2_000,
  escape: plain,
  verdicts: { 400: "deferred" },
  request: ({ text }, { definition: { from, to = "" }, path }) => ({
    path: `${path}/v2/send`,
    body: { message: text, number: from, recipients: [to] },
  }),
}
