import type { Severity } from "@tocsin/contract/Status"
import type { IncidentRecord } from "./IncidentRecord.ts"

const COUNT_OF = {
  warning: "members_warning",
  unknown: "members_unknown",
  critical: "members_critical",
} as const satisfies Record<Severity, keyof IncidentRecord>

/** How many members of an incident have each severity. */
export type MemberCounts = Pick<IncidentRecord, (typeof COUNT_OF)[Severity]>

/** The counts of an incident that is about to get its first member. */
export const NO_MEMBERS: MemberCounts = { members_warning: 0, members_unknown: 0, members_critical: 0 }

/** How many members an incident has. */
export const memberCount = (counts: MemberCounts): number =>
  counts.members_warning + counts.members_unknown + counts.members_critical

/** The severity of the worst member. */
export const worstSeverity = (counts: MemberCounts): Severity =>
  counts.members_critical > 0 ? "critical" : counts.members_unknown > 0 ? "unknown" : "warning"

/** The counts after a member changed its severity, joined or left. */
export const recount = (
  { members_warning, members_unknown, members_critical }: MemberCounts,
  from: Severity | undefined,
  to: Severity | undefined,
): MemberCounts => {
  const recounted = { members_warning, members_unknown, members_critical }
  if (from !== undefined) recounted[COUNT_OF[from]] -= 1
  if (to !== undefined) recounted[COUNT_OF[to]] += 1
  return recounted
}
