import type { MemberRecord } from "./MemberRecord.ts"
import { SEVERITY_RANK } from "./Severity.ts"

/**
 * Orders the members of one incident so that the one that speaks for it comes first: the most severe, and of these the
 * one whose status changed last (docs/rules.md#incidents). Never 0 for two members of one incident.
 */
export const compareMembers = (a: MemberRecord, b: MemberRecord): number =>
  SEVERITY_RANK[b.severity] - SEVERITY_RANK[a.severity] || b.change_seq - a.change_seq
