import { cutHeadline } from "@tocsin/contract/formats/cutHeadline"
import { plainLine } from "@tocsin/contract/formats/plainLine"
import type { AnyWords } from "@tocsin/contract/languages/Languages"
import type * as Instant from "@tocsin/contract/formats/Instant"
import { fill } from "@tocsin/contract/languages/Words"
import { plain } from "./cutText.ts"
import type { IncidentRecord, Resolution } from "../model/IncidentRecord.ts"
import { readerTexts } from "./readerTexts.ts"

/**
 * How an incident ended, in one line (docs/rules.md#details). `length` says how long it was open, and `nameOf` writes the
 * name of another incident.
 */
export const resolutionText = (
  resolution: Resolution,
  length: string,
  words: AnyWords["notification"],
  nameOf = plain,
): string => {
  const { ended, statuses } = words
  switch (resolution.reason) {
    case "recovered":
      return fill(ended.recovered, { length })
    case "reported":
      return fill(ended.reported, { status: statuses[resolution.status], length })
    case "deleted":
      return fill(resolution.of === undefined ? ended.deleted : ended.agent_deleted, { name: resolution.by })
    case "resolved":
      return fill(ended.resolved, { name: resolution.by })
    case "withdrawn":
      return resolution.of === undefined ? ended.not_expected : ended.not_checked
    case "moved":
      return fill(ended.moved, { name: nameOf(plainLine(resolution.to)) })
  }
}

/** That its check is not ok, or that nothing but a person says so, where an incident ended all the same. */
export const notRecoveredText = (
  resolution: Resolution | undefined,
  { not_recovered, statuses }: AnyWords["notification"],
  nameOf = plain,
): string | undefined => {
  switch (resolution?.reason) {
    case "reported":
      return fill(not_recovered.reported, { status: statuses[resolution.status] })
    case "moved":
      return fill(not_recovered.moved, { name: nameOf(plainLine(resolution.to)) })
    case "deleted":
      return not_recovered.gone
    case "withdrawn":
      return resolution.of === undefined ? not_recovered.gone : not_recovered.withdrawn
    case "resolved":
      return not_recovered.by_hand
    default:
      return undefined
  }
}

/** The headline of the result that ended an incident; empty if none did. */
export const headlineNow = (resolution: Resolution | undefined): string => {
  if (resolution?.reason !== "recovered" && resolution?.reason !== "reported") return ""
  const status = resolution.reason === "reported" ? resolution.status : "ok"
  return cutHeadline(plainLine(resolution.now ?? ""), status)
}

/** A resolution for programs: why, and by whom. */
export const shownResolution = (
  resolution: Resolution,
): { readonly reason: Resolution["reason"]; readonly by?: string } => ({
  reason: resolution.reason,
  ...("by" in resolution && { by: resolution.by }),
})

const MICROS_PER_SECOND = 1_000_000n

/** The time between two instants, cut to seconds. */
export const secondsOf = (from: Instant.Instant, to: Instant.Instant): number =>
  to > from ? Number(to / MICROS_PER_SECOND - from / MICROS_PER_SECOND) : 0

/** How an incident ended, as `/ops/v1` shows it; null while it is open, and where an earlier version resolved it. */
export const toResolution = ({
  opened_at,
  resolution,
  resolved_at,
}: Pick<IncidentRecord, "opened_at" | "resolution" | "resolved_at">) => {
  if (resolution === undefined) return null
  const { length, words } = readerTexts({})
  const text = resolutionText(
    resolution,
    length(secondsOf(opened_at, resolved_at ?? opened_at)),
    words.notification,
  )
  return { ...shownResolution(resolution), text }
}
