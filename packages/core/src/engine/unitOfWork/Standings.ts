import { compareMembers, type MemberRecord } from "../../model/MemberRecord.ts"
import { Heap } from "../Heap.ts"

/** How far down its ranking an incident's members are loaded. */
export interface LoadedRanking {
  /** How many members were requested. */
  readonly limit: number
  /** The last loaded member as stored: every current member that is not loaded ranks below it. */
  readonly floor: MemberRecord | undefined
  /** Whether all current members are loaded. */
  readonly complete: boolean
}

/**
 * The members of one incident as a heap, worst first. A changed member is added again; its old
 * version is dropped when it reaches the top. So the cost of a change does not grow with the number
 * of members.
 */
export class Standings {
  readonly #heap = new Heap<MemberRecord>((a, b) => compareMembers(a, b) < 0)
  /** How many of the incident's loaded members have been added. */
  taken = 0

  add(member: MemberRecord): void {
    this.#heap.push(member)
  }

  /** The worst current member. */
  worst(isCurrent: (member: MemberRecord) => boolean): MemberRecord | undefined {
    return this.#heap.firstThat(isCurrent)
  }
}
