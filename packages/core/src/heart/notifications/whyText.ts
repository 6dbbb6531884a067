import * as Instant from "@tocsin/contract/formats/Instant"
import { largestUnits } from "@tocsin/contract/formats/durationMillis"
import { plainLine } from "@tocsin/contract/formats/plainLine"
import { zonedText } from "@tocsin/contract/formats/zonedText"
import { momentOf } from "../firings/Hold.ts"
import type { DeliveryAttempt } from "./Notifiers.ts"

/** How times and lengths read: to the second in a text, as short as they may be, or as a voice says them. */
export type WhyForm = "written" | "brief" | "spoken"

const MINUTE = 60

/** The time between two instants in its two largest units, of a minute and more without seconds: `2 h 5 min`. */
const lengthText = (from: Instant.Instant, to: Instant.Instant, form: WhyForm): string => {
  const seconds = Math.max(1, Math.floor(Instant.secondsBetween(from, to)))
  const parts = largestUnits(seconds < MINUTE ? seconds : seconds - (seconds % MINUTE), 2)
  const write = form === "spoken" ? spoken : written
  return parts.map(write).join(" ")
}

interface Part {
  readonly count: number
  readonly unit: string
}

export const written = ({ count, unit }: Part): string => `${count} ${unit === "m" ? "min" : unit}`

const WORDS: Readonly<Record<string, string>> = { d: "day", h: "hour", m: "minute", s: "second" }

export const spoken = ({ count, unit }: Part): string => `${count} ${WORDS[unit]}${count === 1 ? "" : "s"}`

/** A time to the minute; `brief` without day and zone. */
export const timeText = (at: Instant.Instant, tz: string | undefined, form: WhyForm): string => {
  const [day = "", time = "", zone = ""] = zonedText(at, tz, "minute").split(" ")
  return form === "brief" ? time : `${day} ${time} ${zone}`
}

/**
 * Why a firing comes, as its message says it in one line; nothing if its incident just opened
 * (docs/rules.md#why-a-message-comes).
 */
export const whyText = (
  { age_starts_at, cause, event_type, incident, reason = {}, tz }: DeliveryAttempt,
  form: WhyForm = "written",
): string | undefined => {
  if (event_type !== "firing") return undefined
  const { beside, by, rota, since, was } = reason
  const lasted = (from: Instant.Instant) => lengthText(from, age_starts_at, form)
  if (beside !== undefined) return `Could not reach ${beside.join(", ")}`
  if (rota !== undefined && since !== undefined)
    return `On call for ${rota} since ${timeText(momentOf(since), tz, form)}`
  if (cause === "worsened" && was !== undefined) return `Worse than before: was ${was}`
  if (cause === "escalation" && since !== undefined)
    return `Nobody acknowledged for ${lasted(momentOf(since))}`
  if (cause === "reminder") return `Reminder: open for ${lasted(incident.opened_at)}`
  if (cause === "ack_ran_out" && by !== undefined) return `Acknowledgement by ${plainLine(by)} ran out`
  return undefined
}

/** The line that several messages share. */
export const sharedWhy = (
  notifications: ReadonlyArray<DeliveryAttempt>,
  form?: WhyForm,
): string | undefined => {
  const [why, ...others] = new Set(notifications.map((one) => whyText(one, form)))
  return others.length === 0 ? why : undefined
}
