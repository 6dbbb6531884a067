import type { ReceiverType } from "@tocsin/contract/ReceiverTypes"
import { googleChat, mattermost, rocketChat } from "./chats.ts"
import { discord } from "./discord.ts"
import { matrix } from "./matrix.ts"
import { opsgenie, pagerduty } from "./paging.ts"
import { gotify, ntfy, pushover } from "./push.ts"
import type { Service } from "./Service.ts"
import { teams } from "./teams.ts"
import { zulip } from "./zulip.ts"

export type ServiceType = Exclude<ReceiverType, "email">

/**
 * The services of all types but e-mail (docs/notifications.md#types). Statuses decide as for every receiver:
 * 408, 425, 429 and 5xx are retried, others below 500 are permanent. Each states where its limits are from, as
 * of November 2026.
 */
export const services: Readonly<Record<ServiceType, Service>> = {
  ntfy,
  discord,
  teams,
  google_chat: googleChat,
  mattermost,
  rocket_chat: rocketChat,
  zulip,
  matrix,
  gotify,
  pushover,
  pagerduty,
  opsgenie,
}
