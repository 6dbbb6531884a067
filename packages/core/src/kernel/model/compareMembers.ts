import { type Severity, SEVERITY_RANK } from "@tocsin/contract/formats/Status"

interface Ranked {
  readonly severity: Severity
  readonly change_seq: number
}

/**
 * Orders the members of one incident, the one that represents it first: the most severe, and of
 * these the one whose status changed last (docs/rules.md#incidents). Never 0 for two members of one
 * incident.
 */
export const compareMembers = (a: Ranked, b: Ranked): number =>
  SEVERITY_RANK[b.severity] - SEVERITY_RANK[a.severity] || b.change_seq - a.change_seq
