import type { Duration } from "effect"
import * as Instant from "@tocsin/contract/formats/Instant"
import type { Severity } from "@tocsin/contract/formats/Status"
import type { IncidentRecord } from "./IncidentRecord.ts"
import { isBelow } from "./MemberRecord.ts"
import type { OutboxRecord } from "./OutboxRecord.ts"

/** The columns of an incident that state how bad receivers are to know it is (docs/rules.md#episodes). */
export const NOT_ANNOUNCED = {
  announced: undefined,
  reached_warning_at: undefined,
  reached_unknown_at: undefined,
  reached_critical_at: undefined,
  left_unknown_at: undefined,
  left_critical_at: undefined,
  forgotten_unknown_at: undefined,
  forgotten_critical_at: undefined,
} as const satisfies Partial<IncidentRecord>

type AnnouncedColumns = Pick<IncidentRecord, keyof typeof NOT_ANNOUNCED>

/** The mildest first. */
export const SEVERITIES = ["warning", "unknown", "critical"] as const satisfies ReadonlyArray<Severity>

const COLUMN = {
  warning: "reached_warning_at",
  unknown: "reached_unknown_at",
  critical: "reached_critical_at",
} as const satisfies Record<Severity, keyof AnnouncedColumns>

/** The severities that may be forgotten, the mildest first, and as which a firing counts that was due before. */
const FORGOTTEN = [
  { severity: "unknown", milder: "warning", left: "left_unknown_at", forgotten: "forgotten_unknown_at" },
  { severity: "critical", milder: "unknown", left: "left_critical_at", forgotten: "forgotten_critical_at" },
] as const satisfies ReadonlyArray<
  Record<"forgotten" | "left", keyof AnnouncedColumns> & Record<"milder" | "severity", Severity>
>

/** When an incident was first announced at a severity or worse; absent if that was never its announced one. */
export const reachedAt = (
  incident: Pick<AnnouncedColumns, (typeof COLUMN)[Severity]>,
  severity: Severity,
): Instant.Instant | undefined => incident[COLUMN[severity]]

/** The severity that a receiver knows by a firing: the highest that the incident has not forgotten since. */
export const knownBy = (
  incident: AnnouncedColumns,
  { age_starts_at: due, severity: stated }: Pick<OutboxRecord, "age_starts_at" | "severity">,
): Severity => {
  const lost = FORGOTTEN.find(({ forgotten, severity }) => {
    const at = incident[forgotten]
    return !isBelow(stated, severity) && at !== undefined && due < at
  })
  return lost?.milder ?? stated
}

interface Announcing {
  readonly now: Instant.Instant
  /** How long the announced severity stays below another one until that is forgotten. */
  readonly againAfter: Duration.Duration
}

/** A copy to be changed, made in one piece: each loud event needs one. */
const copied = (
  incident: AnnouncedColumns,
): { -readonly [Name in keyof AnnouncedColumns]: AnnouncedColumns[Name] } => ({
  announced: incident.announced,
  reached_warning_at: incident.reached_warning_at,
  reached_unknown_at: incident.reached_unknown_at,
  reached_critical_at: incident.reached_critical_at,
  left_unknown_at: incident.left_unknown_at,
  left_critical_at: incident.left_critical_at,
  forgotten_unknown_at: incident.forgotten_unknown_at,
  forgotten_critical_at: incident.forgotten_critical_at,
})

/**
 * The columns without the severities that the announced one has been below for so long that the incident forgets them.
 * A server without these columns may have announced meanwhile: it is not known since when, so that counts as long.
 */
export const forget = (incident: AnnouncedColumns, { againAfter, now }: Announcing) => {
  const columns = copied(incident)
  for (const { forgotten, left, severity } of FORGOTTEN) {
    columns[left] = undefined
    if (!isBelow(incident.announced, severity)) continue
    const leftAt = incident[left]
    const at = leftAt === undefined ? reachedAt(incident, severity) && now : Instant.plus(leftAt, againAfter)
    if (at === undefined) continue
    if (at > now) columns[left] = leftAt
    else {
      columns[COLUMN[severity]] = undefined
      columns[forgotten] = at
    }
  }
  return columns
}

/**
 * When an incident forgets the next severity that was announced, if nothing happens until then. One that was only shown
 * is forgotten at the next event: no incident is evaluated for that alone.
 */
export const forgetsAt = (
  incident: AnnouncedColumns,
  againAfter: Duration.Duration,
): Instant.Instant | undefined => {
  const left = Instant.earliest(
    FORGOTTEN.map(({ left: column, severity }) => reachedAt(incident, severity) && incident[column]),
  )
  return left && Instant.plus(left, againAfter)
}

/**
 * The announced severity of an incident after an event: a loud one announces its severity, an
 * improvement lowers the announced one, a silent worsening leaves it.
 */
export const announce = (
  incident: AnnouncedColumns & Pick<IncidentRecord, "severity">,
  isLoud: boolean,
  announcing: Announcing,
): AnnouncedColumns => {
  const { now } = announcing
  const { announced: before, severity } = incident
  const isLower = before !== undefined && isBelow(severity, before)
  const announced = isLoud || isLower ? severity : before
  const columns = forget(incident, announcing)
  if (announced === undefined) return columns
  columns.announced = announced
  columns[COLUMN[announced]] ??= firstReached(columns, announced, now)
  for (const { left, severity: other } of FORGOTTEN) {
    const wasBelow = before !== undefined && isBelow(before, other)
    if (!isBelow(announced, other)) columns[left] = undefined
    else if (!wasBelow) columns[left] = now
  }
  return columns
}

/** When an incident that is announced at a severity now was first announced at that or worse. */
const firstReached = (
  columns: AnnouncedColumns,
  announced: Severity,
  now: Instant.Instant,
): Instant.Instant | undefined => {
  let first: Instant.Instant | undefined = now
  for (const other of SEVERITIES)
    if (isBelow(announced, other)) first = Instant.earliest([first, reachedAt(columns, other)])
  return first
}
