import * as Instant from "@tocsin/contract/formats/Instant"
import { plainLine } from "@tocsin/contract/formats/plainLine"
import { fill } from "@tocsin/contract/languages/Words"
import { momentOf } from "../firings/Hold.ts"
import type { DeliveryAttempt } from "./Notifiers.ts"
import { readerTexts, type TextForm } from "./readerTexts.ts"

const MINUTE = 60

/** The time between two instants, of a minute and more without seconds. */
const secondsOf = (from: Instant.Instant, to: Instant.Instant): number => {
  const seconds = Math.max(1, Math.floor(Instant.secondsBetween(from, to)))
  return seconds < MINUTE ? seconds : seconds - (seconds % MINUTE)
}

/**
 * Why a firing comes, as its message says it in one line; nothing if its incident just opened
 * (docs/rules.md#why-a-message-comes).
 */
export const whyText = (notification: DeliveryAttempt, form?: TextForm): string | undefined => {
  const { age_starts_at, cause, due_at, event_type, incident, reason = {} } = notification
  if (event_type !== "firing") return undefined
  const { length, names, time, words } = readerTexts(notification, form)
  const { statuses, why } = words.notification
  const { beside, by, rota, since, was } = reason
  const lasted = (from: Instant.Instant) => ({ length: length(secondsOf(from, age_starts_at)) })
  if (beside !== undefined) return fill(why.not_reached, { names: names(beside) })
  if (rota !== undefined && since !== undefined)
    return fill(why.on_call, { rota, time: time(momentOf(since), "minute", due_at) })
  if (cause === "worsened" && was !== undefined) return fill(why.worse, { status: statuses[was] })
  if (cause === "escalation" && since !== undefined) return fill(why.unacknowledged, lasted(momentOf(since)))
  if (cause === "reminder") return fill(why.reminder, lasted(incident.opened_at))
  if (cause === "ack_ran_out" && by !== undefined) return fill(why.ran_out, { name: plainLine(by) })
  return undefined
}

/** The line that several messages share. */
export const sharedWhy = (
  notifications: ReadonlyArray<DeliveryAttempt>,
  form?: TextForm,
): string | undefined => {
  const [why, ...others] = new Set(notifications.map((one) => whyText(one, form)))
  return others.length === 0 ? why : undefined
}
