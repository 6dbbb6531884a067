import { basic, defused, form, secondsAt, type Service } from "./Service.ts"

/** A message to a channel; at most 10,000 bytes (zulip.com/api/send-message, November 2026). */
export const zulip: Service = {
  limit: 3_300,
  escape: defused,
  retryAfterOf: secondsAt("retry-after"),
  request: ({ text }, { definition: { stream = "", topic = "" }, path, token, user }) => ({
    path: `${path}/api/v1/messages`,
    headers: basic(user, token),
    ...form({ type: "stream", to: stream, topic, content: text }),
  }),
}
