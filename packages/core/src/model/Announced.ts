import * as Instant from "@tocsin/contract/Instant"
import type { Severity } from "@tocsin/contract/Status"
import type { IncidentRecord } from "./IncidentRecord.ts"
import { isBelow } from "./MemberRecord.ts"

/** The columns of an incident that state how bad receivers are to know it is (docs/rules.md#firings). */
type AnnouncedColumns = Pick<
  IncidentRecord,
  "announced" | "reached_warning_at" | "reached_unknown_at" | "reached_critical_at"
>

export const NOT_ANNOUNCED: AnnouncedColumns = {
  announced: undefined,
  reached_warning_at: undefined,
  reached_unknown_at: undefined,
  reached_critical_at: undefined,
}

/** The mildest first. */
export const SEVERITIES = ["warning", "unknown", "critical"] as const satisfies ReadonlyArray<Severity>

const COLUMN = {
  warning: "reached_warning_at",
  unknown: "reached_unknown_at",
  critical: "reached_critical_at",
} as const satisfies Record<Severity, keyof AnnouncedColumns>

/** When an incident was first announced at a severity or worse; absent if that was never its announced one. */
export const reachedAt = (
  incident: Omit<AnnouncedColumns, "announced">,
  severity: Severity,
): Instant.Instant | undefined => incident[COLUMN[severity]]

/**
 * The announced severity of an incident after an event: a loud one announces its severity, an
 * improvement lowers the announced one, a silent worsening leaves it.
 */
export const announce = (
  incident: AnnouncedColumns & Pick<IncidentRecord, "severity">,
  isLoud: boolean,
  now: Instant.Instant,
): AnnouncedColumns => {
  const { announced: before, severity } = incident
  const isLower = before !== undefined && isBelow(severity, before)
  const announced = isLoud || isLower ? severity : before
  const columns = {
    announced,
    reached_warning_at: incident.reached_warning_at,
    reached_unknown_at: incident.reached_unknown_at,
    reached_critical_at: incident.reached_critical_at,
  }
  if (announced === undefined || reachedAt(incident, announced) !== undefined) return columns
  const worse = SEVERITIES.filter((other) => isBelow(announced, other))
  const reached = Instant.earliest([now, ...worse.map((other) => reachedAt(incident, other))])
  return { ...columns, [COLUMN[announced]]: reached }
}
