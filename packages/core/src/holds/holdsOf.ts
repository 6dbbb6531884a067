import * as Instant from "@tocsin/contract/Instant"
import type { Severity } from "@tocsin/contract/Status"
import { SEVERITY_RANK } from "../model/MemberRecord.ts"
import { compileMatchers, type MatchedFacts, type Matcher } from "@tocsin/contract/Matcher"

/** Why a firing waits, and until when. */
export interface Hold {
  readonly by: "ack" | "after" | `silence:${string}` | `window:${string}`
  readonly until: Instant.Instant
}

/** A silence or a window that is in force now. */
export interface Cover {
  readonly by: `silence:${string}` | `window:${string}`
  readonly until: Instant.Instant
  readonly matchers: ReadonlyArray<Matcher>
}

/** A cover whose matchers are compiled once for many comparisons. */
export interface CompiledCover extends Pick<Cover, "by" | "until"> {
  readonly matches: (facts: Partial<MatchedFacts>) => boolean
  /** Whether it looks only at what all members of an incident share. */
  readonly isShared: boolean
}

export const compileCover = ({ by, matchers, until }: Cover): CompiledCover => ({
  by,
  until,
  matches: compileMatchers(matchers),
  isShared: matchers.every(({ field }) => field === "incident_key" || field === "severity"),
})

/** An incident's loud present members, each with what matchers are compared with. */
export type LoudMembers =
  | { readonly kind: "listed"; readonly members: ReadonlyArray<Partial<MatchedFacts>> }
  /** Too many to look at: only what all of them share counts. */
  | { readonly kind: "crowd"; readonly shared: Pick<MatchedFacts, "incident_key" | "severity"> }

/** What decides whether a firing is held. */
export interface HoldFacts {
  /** The severity that the firing states, or the incident's if that is lower now. */
  readonly severity: Severity
  /** Until when the incident must have been open before anyone is notified. */
  readonly opensAt: Instant.Instant
  readonly acknowledgement: { readonly until: Instant.Instant; readonly severity: Severity } | undefined
  readonly loud: LoudMembers
  readonly covers: ReadonlyArray<CompiledCover>
}

/** A firing waits until the last of its holds has ended; there is at least one. */
export const lastEnd = (holds: ReadonlyArray<Hold>): Instant.Instant =>
  holds.map(({ until }) => until).reduce(Instant.max)

/** Every hold on a firing at a moment; none where it may be sent. */
export const holdsOf = (facts: HoldFacts, now: Instant.Instant): ReadonlyArray<Hold> => [
  ...(now < facts.opensAt ? [{ by: "after", until: facts.opensAt } as const] : []),
  ...acknowledgementHold(facts, now),
  ...coveringHolds(facts),
]

const acknowledgementHold = (
  { acknowledgement, severity }: HoldFacts,
  now: Instant.Instant,
): ReadonlyArray<Hold> =>
  acknowledgement !== undefined &&
  now < acknowledgement.until &&
  SEVERITY_RANK[severity] <= SEVERITY_RANK[acknowledgement.severity]
    ? [{ by: "ack", until: acknowledgement.until }]
    : []

/**
 * The silences and windows that together cover every loud present member. Coverage ends when the
 * first member is no longer covered by any of them. A crowd is covered only by matchers that need no
 * look at its members.
 */
export const coveringHolds = ({ covers, loud }: Pick<HoldFacts, "covers" | "loud">): ReadonlyArray<Hold> => {
  const members = loud.kind === "listed" ? loud.members : [loud.shared]
  const able = loud.kind === "listed" ? covers : covers.filter(({ isShared }) => isShared)
  if (members.length === 0 || able.length === 0) return []
  const coveredBy: Array<ReadonlyArray<CompiledCover>> = []
  for (const member of members) {
    const of = able.filter(({ matches }) => matches(member))
    // Most incidents end here: no other member is compared.
    if (of.length === 0) return []
    coveredBy.push(of)
  }
  const until = coveredBy.map((of) => of.map((cover) => cover.until).reduce(Instant.max)).reduce(Instant.min)
  return Array.from(new Set(coveredBy.flatMap((of) => of.map(({ by }) => by))), (by) => ({ by, until }))
}
