import { plain } from "@tocsin/core/heart/notifications/cutText"
import { type Service, titled } from "./Service.ts"

const PRIORITIES = { critical: 8, warning: 5, unknown: 5, resolved: 2, test: 5 } as const

/** A message of an application, as plain text; it has no limit (github.com/gotify/server, `api/message.go`, July 2026). */
export const gotify: Service = {
  limit: 8_000,
  escape: plain,
  hasTitle: true,
  request: ({ text, tone }, { path, token }) => ({
    path: `${path}/message`,
    headers: { "x-gotify-key": token },
    body: { ...titled(text), priority: PRIORITIES[tone] },
  }),
}
