import type { ReceiverType } from "@tocsin/contract/receivers/ReceiverTypes"
import { apprise } from "./apprise.ts"
import { call } from "./call.ts"
import { discord } from "./discord.ts"
import { gotify } from "./gotify.ts"
import { matrix } from "./matrix.ts"
import { ntfy } from "./ntfy.ts"
import { opsgenie } from "./opsgenie.ts"
import { pagerduty } from "./pagerduty.ts"
import { pushover } from "./pushover.ts"
import { signal } from "./signal.ts"
import { sms } from "./sms.ts"
import { teams } from "./teams.ts"
import { zulip } from "./zulip.ts"
import { ofText, type Service } from "./Service.ts"

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
