import * as Instant from "@tocsin/contract/Instant"
import type { Severity } from "@tocsin/contract/Status"
import { SEVERITY_RANK } from "../model/MemberRecord.ts"
import type { MatchedFacts, Matcher } from "@tocsin/contract/Matcher"
import type { FindMatching } from "../policy/indexMatchers.ts"

/** Why a firing waits, and until when. */
export interface Hold {
  readonly by: "ack" | "after" | `silence:${string}` | `window:${string}`
  readonly until: Instant.Instant
}

/** A silence or a window that is in force now. */
export interface Mute {
  readonly by: `silence:${string}` | `window:${string}`
  readonly until: Instant.Instant
  readonly matchers: ReadonlyArray<Matcher>
}

/** The silences and windows in force, with an index of their matchers. */
export interface Mutes {
  readonly mutes: ReadonlyArray<Mute>
  /** Finds the positions of those whose matchers hold. */
  readonly find: FindMatching
}

/** Whether a cover looks only at what all members of an incident share. */
const isShared = ({ matchers }: Mute): boolean =>
  matchers.every(({ field }) => field === "incident_key" || field === "severity")

/** An incident's loud present members, each with what matchers are compared with. */
export type LoudMembers =
  | { readonly kind: "listed"; readonly members: ReadonlyArray<Partial<MatchedFacts>> }
  /** Too many to look at: only what all of them share counts. */
  | { readonly kind: "too_many"; readonly shared: Pick<MatchedFacts, "incident_key" | "severity"> }

/** What decides on the covers of an incident. */
interface Coverage {
  readonly mutes: Mutes
  readonly loud: LoudMembers
}

/** What decides whether a firing is held. */
export interface HoldFacts {
  /** The severity that the firing states, or the incident's if that is lower now. */
  readonly severity: Severity
  /** Until when the incident must have been open before anyone is notified. */
  readonly opensAt: Instant.Instant
  readonly acknowledgement: { readonly until: Instant.Instant; readonly severity: Severity } | undefined
  /** What covers the incident. */
  readonly covering: ReadonlyArray<Hold>
}

/** A firing waits until the last of its holds has ended; there is at least one. */
export const lastEnd = (holds: ReadonlyArray<Hold>): Instant.Instant =>
  holds.map(({ until }) => until).reduce(Instant.max)

/** Every hold on a firing at a moment; none where it may be sent. */
export const computeHolds = (facts: HoldFacts, now: Instant.Instant): ReadonlyArray<Hold> => [
  ...(now < facts.opensAt ? [{ by: "after", until: facts.opensAt } as const] : []),
  ...acknowledgementHold(facts, now),
  ...facts.covering,
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
export const mutingHolds = ({ mutes: { mutes, find }, loud }: Coverage): ReadonlyArray<Hold> => {
  if (mutes.length === 0) return []
  const members = loud.kind === "listed" ? loud.members : [loud.shared]
  const isCovering = mutes.map(() => false)
  let until: Instant.Instant | undefined
  for (const member of members) {
    let end: Instant.Instant | undefined
    for (const position of find(member)) {
      const mute = mutes[position]
      if (mute === undefined || (loud.kind === "too_many" && !isShared(mute))) continue
      isCovering[position] = true
      if (end === undefined || mute.until > end) end = mute.until
    }
    // Most incidents end here: no other member is compared.
    if (end === undefined) return []
    if (until === undefined || end < until) until = end
  }
  return until === undefined
    ? []
    : mutes.flatMap(({ by }, n) => (isCovering[n] === true ? [{ by, until }] : []))
}
