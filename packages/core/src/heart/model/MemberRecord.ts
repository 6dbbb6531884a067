import type { AgentId, CheckId, IncidentId } from "@tocsin/contract/formats/Identifiers"
import { type CheckStatus, type Severity, SEVERITY_RANK } from "@tocsin/contract/formats/Status"
import type { IncidentRecord } from "./IncidentRecord.ts"
import {
  boolean,
  instant,
  integer,
  keyedTable,
  orUndefined,
  type RecordOf,
  text,
} from "../../kernel/model/TableShape.ts"

/** Kept after the check has left, so that filters find it (docs/rules.md#incidents). */
export const incident_member = keyedTable({
  name: "incident_member",
  key: ["incident_id", "agent_id", "check_id"],
  locks: "guarded",
  group: ["agent_id"],
  groupedWithout: "left_at",
  // Slashes join IDs, since no ID contains one.
  partOf: (ref) => ref.agent_id,
  keyOf: (ref) => `${ref.incident_id}/${ref.check_id}`,
  groupsOf: (row) => [`incident/${row.incident_id}`, `agent/${row.agent_id}`],
  columns: {
    incident_id: text<IncidentId>(),
    agent_id: text<AgentId>(),
    check_id: text<CheckId>(),
    severity: text<Severity>(),
    /** The change that set its severity: the latest of equally severe members represents the incident. */
    change_seq: integer,
    /** First line of its latest output, at most 512 characters. */
    summary: orUndefined(text()),
    joined_at: instant,
    left_at: orUndefined(instant),
    /** Whether its last change of status came with notifications enabled. */
    is_loud: boolean,
    /** Of a late check: whether matchers compare it by its check, also in the incident of its agent. */
    is_own: orUndefined(boolean),
  },
})
export type MemberRecord = RecordOf<typeof incident_member>

export type MemberRef = Pick<MemberRecord, "incident_id" | "agent_id" | "check_id">

/** The member of a heartbeat incident; no check can have this ID, since IDs contain no `@`. */
export const HEARTBEAT = "@heartbeat" as CheckId // Its schema refuses it by design.

/** Whether a severity, or none, is milder than another. */
export const isBelow = (a: Severity | undefined, b: Severity): boolean =>
  a === undefined || SEVERITY_RANK[a] < SEVERITY_RANK[b]

export const severityOf = (status: CheckStatus): Severity | undefined =>
  status === "ok" ? undefined : status

const COUNT_OF = {
  warning: "members_warning",
  unknown: "members_unknown",
  critical: "members_critical",
} as const satisfies Record<Severity, keyof IncidentRecord>

export type MemberCounts = Pick<IncidentRecord, (typeof COUNT_OF)[Severity]>

/** The counts of an incident that is about to get its first member. */
export const NO_MEMBERS: MemberCounts = { members_warning: 0, members_unknown: 0, members_critical: 0 }

export const memberCount = (counts: MemberCounts): number =>
  counts.members_warning + counts.members_unknown + counts.members_critical

export const worstSeverity = (counts: MemberCounts): Severity =>
  counts.members_critical > 0 ? "critical" : counts.members_unknown > 0 ? "unknown" : "warning"

export const recountMembers = (
  { members_warning, members_unknown, members_critical }: MemberCounts,
  from: Severity | undefined,
  to: Severity | undefined,
): MemberCounts => {
  const recounted = { members_warning, members_unknown, members_critical }
  if (from !== undefined) recounted[COUNT_OF[from]] -= 1
  if (to !== undefined) recounted[COUNT_OF[to]] += 1
  return recounted
}
