import type { IncidentId } from "@tocsin/contract/formats/Identifiers"
import type { MemberRecord } from "../../heart/model/MemberRecord.ts"
import type { KeyedTable } from "./KeyedTables.ts"
import { Heap } from "./TimerQueue.ts"
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

export const isPresent = (member: MemberRecord): boolean => member.left_at === undefined

const isWorse = (a: MemberRecord, b: MemberRecord): boolean => compareMembers(a, b) < 0

/** The members of one incident, worst first, and how many of its loaded ones are among them. */
interface Standing {
  readonly heap: Heap<MemberRecord>
  taken: number
}

/**
 * The present members of incidents, worst first. A changed member is added again, and its old version dropped at the
 * top: no change costs more in an incident of many.
 */
export class Standings {
  readonly #members: KeyedTable<"incident_member">
  readonly #standings = new Map<IncidentId, Standing>()

  constructor(members: KeyedTable<"incident_member">) {
    this.#members = members
  }

  put(member: MemberRecord): void {
    if (isPresent(member)) this.#standings.get(member.incident_id)?.heap.push(member)
  }

  worstOf(incidentId: IncidentId): MemberRecord | undefined {
    const standing = this.#standings.get(incidentId) ?? { heap: new Heap(isWorse), taken: 0 }
    this.#standings.set(incidentId, standing)
    const loaded = this.#members.group(`incident/${incidentId}`, standing.taken)
    for (const member of loaded) standing.heap.push(member)
    standing.taken += loaded.length
    return standing.heap.firstThat((member) => isPresent(member) && this.#members.get(member) === member)
  }
}
