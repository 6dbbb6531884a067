import { compareMembers, type MemberRecord } from "../../incidents/MemberRecord.ts"

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
  readonly #heap: Array<MemberRecord> = []
  /** How many of the incident's loaded members have been added. */
  taken = 0

  add(member: MemberRecord): void {
    const heap = this.#heap
    let at = heap.length
    while (at > 0) {
      const above = (at - 1) >> 1
      const parent = heap[above]
      if (parent === undefined || compareMembers(parent, member) <= 0) break
      heap[at] = parent
      at = above
    }
    heap[at] = member
  }

  /** The worst current member. */
  worst(isCurrent: (member: MemberRecord) => boolean): MemberRecord | undefined {
    for (let top = this.#heap[0]; top !== undefined; top = this.#heap[0]) {
      if (isCurrent(top)) return top
      this.#dropTop()
    }
    return undefined
  }

  #dropTop(): void {
    const heap = this.#heap
    const last = heap.pop()
    if (last === undefined || heap.length === 0) return
    let at = 0
    for (;;) {
      const [left, right] = [heap[2 * at + 1], heap[2 * at + 2]]
      if (left === undefined) break
      const isRight = right !== undefined && compareMembers(right, left) < 0
      const below = isRight ? right : left
      if (compareMembers(last, below) <= 0) break
      heap[at] = below
      at = 2 * at + (isRight ? 2 : 1)
    }
    heap[at] = last
  }
}
