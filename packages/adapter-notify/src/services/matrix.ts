import { plain } from "@tocsin/core/heart/notifications/cutText"
import { secondsAt, type Service } from "./Service.ts"

/**
 * A message to an unencrypted room. The event has at most 65,536 bytes, and an empty `m.mentions` mentions
 * no one (spec.matrix.org, client-server API, "Size limits", July 2026). Older servers send their hint in the
 * body only. The transaction makes a repeat safe.
 */
export const matrix: Service = {
  limit: 8_000,
  escape: plain,
  retryAfterOf: secondsAt("retry_after_ms", 1_000),
  request: ({ id, text }, { definition: { room = "" }, path, token }) => ({
    method: "PUT",
    path: `${path}/_matrix/client/v3/rooms/${encodeURIComponent(room)}/send/m.room.message/${encodeURIComponent(id)}`,
    headers: { authorization: `Bearer ${token}` },
    body: { msgtype: "m.text", body: text, "m.mentions": {} },
  }),
}
