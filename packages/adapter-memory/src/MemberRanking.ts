import { compareMembers, type MemberRecord, SEVERITY_RANK } from "@tocsin/core/model/MemberRecord"

/** The members of one incident, past ones too, by `agent/check`. */
export type Members = ReadonlyMap<string, MemberRecord>

/** How a member came to its severity: it is no longer current once the member has changed again. */
interface Entry {
  readonly name: string
  readonly change_seq: number
}

/** A ranking costs more than it saves where there are fewer members than this. */
const WORTH_RANKING = 32

/** Outdated entries are dropped when more than half are outdated, and there are more than this. */
const KEPT_OUTDATED = 64

/**
 * The present members of one incident by rank, so that the first of a crowd are found without reading
 * the others.
 */
export class MemberRanking {
  readonly #members: Members
  /** By severity, the lowest first, and each by `change_seq`. */
  #ranks: ReadonlyArray<Array<Entry>> = []
  #entries = 0
  #mostEntries = 0

  constructor(members: Members) {
    this.#members = members
    this.#build()
  }

  /** Takes a member as it is stored now. */
  add(name: string, { change_seq, left_at, severity }: MemberRecord): void {
    if (left_at !== undefined) return
    if (this.#entries >= this.#mostEntries) return this.#build()
    const rank = this.#ranks[SEVERITY_RANK[severity] - 1] ?? []
    let at = rank.length
    while (at > 0 && (rank[at - 1]?.change_seq ?? 0) > change_seq) at--
    // Another summary changes no rank.
    if (rank[at - 1]?.change_seq === change_seq) return
    this.#entries += 1
    if (at === rank.length) rank.push({ name, change_seq })
    else rank.splice(at, 0, { name, change_seq })
  }

  /** The first members of which this is true. */
  first(limit: number, isWanted: (member: MemberRecord) => boolean): ReadonlyArray<MemberRecord> {
    const found: Array<MemberRecord> = []
    for (const rank of this.#ranks.toReversed()) {
      const current: Array<Entry> = []
      let at = rank.length
      while (at > 0 && found.length < limit) {
        const entry = rank[--at]
        const member = entry && this.#current(entry)
        if (entry === undefined || member === undefined) continue
        current.push(entry)
        if (isWanted(member)) found.push(member)
      }
      this.#entries -= rank.length - at - current.length
      // One by one: there may be more than a call takes arguments.
      rank.length = at
      for (const entry of current.toReversed()) rank.push(entry)
    }
    return found
  }

  #current({ change_seq, name }: Entry): MemberRecord | undefined {
    const member = this.#members.get(name)
    return member?.left_at === undefined && member?.change_seq === change_seq ? member : undefined
  }

  #build(): void {
    this.#ranks = [[], [], []]
    const present = Array.from(this.#members).filter(([, { left_at }]) => left_at === undefined)
    for (const [name, { change_seq, severity }] of present.toSorted(([, a], [, b]) => compareMembers(b, a)))
      this.#ranks[SEVERITY_RANK[severity] - 1]?.push({ name, change_seq })
    this.#entries = present.length
    this.#mostEntries = 2 * present.length + KEPT_OUTDATED
  }
}

const isPresent = ({ left_at }: MemberRecord): boolean => left_at === undefined

/** The first present members of an incident by `compareMembers` of which `isWanted` is true. */
export const firstMembers = (
  {
    members,
    rankings,
  }: { readonly members: ReadonlyMap<string, Members>; readonly rankings: WeakMap<Members, MemberRanking> },
  id: string,
  limit: number,
  isWanted: (member: MemberRecord) => boolean = isPresent,
): ReadonlyArray<MemberRecord> => {
  const ofIncident = members.get(id)
  if (ofIncident === undefined) return []
  if (ofIncident.size < WORTH_RANKING)
    return Array.from(ofIncident.values())
      .filter((member) => isPresent(member) && isWanted(member))
      .toSorted(compareMembers)
      .slice(0, limit)
  let ranking = rankings.get(ofIncident)
  if (ranking === undefined) rankings.set(ofIncident, (ranking = new MemberRanking(ofIncident)))
  return ranking.first(limit, isWanted)
}
