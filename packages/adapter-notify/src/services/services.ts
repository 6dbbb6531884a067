import type { ReceiverType } from "@tocsin/contract/receivers/ReceiverTypes"
import { call } from "./call.ts"
import { ntfy } from "./ntfy.ts"
import { opsgenie } from "./opsgenie.ts"
import { pagerduty } from "./pagerduty.ts"
import { pushover } from "./pushover.ts"
import { sms } from "./sms.ts"
import { teams } from "./teams.ts"
import { basic, defused, form, ofText, secondsAt, type Service, titled } from "./Service.ts"
import { plain } from "@tocsin/core/heart/notifications/cutText"

/** A message to a channel; at most 10,000 bytes (zulip.com/api/send-message, November 2026). */
const zulip: Service = {
  limit: 3_300,
  escape: defused,
  retryAfterOf: secondsAt("retry-after"),
  request: ({ text }, { definition: { stream = "", topic = "" }, path, token, user }) => ({
    path: `${path}/api/v1/messages`,
    headers: basic(user, token),
    ...form({ type: "stream", to: stream, topic, content: text }),
  }),
}

/**
 * A message by signal-cli-rest-api, as plain text: a longer one becomes a file. It answers 400 to every failure, also
 * while Signal is unreachable (github.com/bbernhard/signal-cli-rest-api, `src/api/api.go`, November 2026).
 */
const signal: Service = {
  limit: 2_000,
  escape: plain,
  verdicts: { 400: "deferred" },
  request: ({ text }, { definition: { from, to = "" }, path }) => ({
    path: `${path}/v2/send`,
    body: { message: text, number: from, recipients: [to] },
  }),
}

/**
 * A message to an unencrypted room. The event has at most 65,536 bytes, and an empty `m.mentions` mentions
 * no one (spec.matrix.org, client-server API, "Size limits", July 2026). Older servers send their hint in the
 * body only. The transaction makes a repeat safe.
 */
const matrix: Service = {
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

const PRIORITIES = { critical: 8, warning: 5, unknown: 5, resolved: 2, ended: 2, test: 5 } as const

/** A message of an application, as plain text; it has no limit (github.com/gotify/server, `api/message.go`, July 2026). */
const gotify: Service = {
  limit: 8_000,
  escape: plain,
  hasTitle: true,
  request: ({ text, tone }, { path, token }) => ({
    path: `${path}/message`,
    headers: { "x-gotify-key": token },
    body: { ...titled(text), priority: PRIORITIES[tone] },
  }),
}

/** Also `:`, which keeps addresses from becoming links. */
const MARKDOWN = /[\\`*_~|>#\-[\]()<:@]/g

const SUPPRESS_EMBEDS = 4

/** An incoming webhook; 2,000 characters (docs.discord.com, "Execute Webhook" and "Rate Limits", August 2026). */
const discord: Service = {
  limit: 2_000,
  escape: (text) => text.replace(MARKDOWN, String.raw`\$&`),
  retryAfterOf: secondsAt("retry_after"),
  request: ({ text }) => ({
    body: { content: text, allowed_mentions: { parse: [] }, flags: SUPPRESS_EMBEDS },
  }),
}

const TYPES = {
  critical: "failure",
  warning: "warning",
  unknown: "warning",
  resolved: "success",
  ended: "info",
  test: "info",
} as const

/**
 * The services of a key of the Apprise API, which cuts texts for each of them; 32 KB. It answers 204 if it has no such
 * key, and 424 if one of them failed (github.com/caronc/apprise-api, README, November 2026).
 */
const apprise: Service = {
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

/**
 * The services of all types but e-mail (docs/notifications.md#types); each says where its rules are from,
 * and when they were looked up. Limits are in characters; `hint` is what an answer says of the next attempt
 * beside `Retry-After`. Every service refuses for good with a status below 500 other than 408, 425 and 429.
 *
 * | type | the service's limit | hint | a repeat |
 * |---|---|---|---|
 * | google_chat | 32,000 bytes | – | is a second message |
 * | mattermost | 16,383 characters | – | is a second message |
 * | rocket_chat | 5,000 characters | – | is a second message |
 * | zulip | 10,000 bytes | `retry-after` in the body | is a second message |
 * | discord | 2,000 characters | `retry_after` in the body | is a second message |
 * | matrix | 65,536 bytes | `retry_after_ms` in the body | is none: the transaction is the notification |
 * | teams | 28 KB | – | is a second message |
 * | pagerduty | a summary of 1,024 characters | – | is none: the key is the incident |
 * | opsgenie | a message of 130, a description of 15,000 characters | – | is none: the alias is the incident |
 * | ntfy | 4,096 bytes, a title of 1 KB | – | is a second message |
 * | gotify | none | – | is a second message |
 * | pushover | 1,024 characters | – | is a second message |
 * | call | 4,000 characters of TwiML | – | is a second call |
 * | sms | 459 septets, 201 units | – | is a second message |
 * | signal | none | – | is a second message |
 * | apprise | 32 KB | – | is a second message to each service |
 */
export const services: Readonly<Record<Exclude<ReceiverType, "browser" | "email">, Service>> = {
  // Incoming webhooks (developers.google.com, "spaces.messages.create", November 2026;
  // docs.mattermost.com, "Incoming webhooks", November 2026).
  google_chat: ofText(8_000),
  mattermost: ofText(16_383),
  // Unless the server allows more: `Message_MaxAllowedSize` in github.com/RocketChat/Rocket.Chat,
  // `apps/meteor/server/settings/message.ts`, November 2026.
  rocket_chat: ofText(5_000),
  zulip,
  discord,
  matrix,
  teams,
  pagerduty,
  opsgenie,
  ntfy,
  gotify,
  pushover,
  call,
  sms,
  signal,
  apprise,
}
