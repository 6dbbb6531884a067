import { Array as Arr } from "effect"
import * as Instant from "@tocsin/contract/formats/Instant"
import type { MatchedFacts, Matcher } from "@tocsin/contract/labels/Matcher"
import type { Policy } from "../policy/compilePolicy.ts"
import { type FindMatching, indexMatchers } from "../policy/indexMatchers.ts"
import { occurrenceAround, occurrenceInForce } from "../policy/occurrences.ts"
import { type SilenceRecord, silenceState } from "../model/SilenceRecord.ts"
import type { Hold } from "./Hold.ts"
import type { LoudFacts } from "./loudMembers.ts"
import type { NotifierName, Severity } from "@tocsin/contract/formats/Status"
import type { IncidentRecord } from "../model/IncidentRecord.ts"
import { isBelow } from "../model/MemberRecord.ts"

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

const NO_MUTES: Mutes = { mutes: [], find: () => [] }

/** The silences and maintenance windows that are in force at a moment. */
export const activeMutes = (
  policy: Policy,
  silences: ReadonlyArray<SilenceRecord>,
  now: Instant.Instant,
): Mutes => {
  if (silences.length === 0 && policy.windows.length === 0) return NO_MUTES
  const mutes: ReadonlyArray<Mute> = [
    ...silences.flatMap((silence) => {
      const { ends_at, id, matchers } = silence
      // Without matchers its row is damaged: an empty list would match everything.
      const isActive = matchers.length > 0 && silenceState(silence, now) === "active"
      return isActive ? ({ by: `silence:${id}`, until: ends_at, matchers } as const) : []
    }),
    ...policy.windows.flatMap((window) => {
      const until = occurrenceInForce(window, now)?.ends_at
      return until === undefined
        ? []
        : ({ by: `window:${window.name}`, until, matchers: window.match } as const)
    }),
  ]
  return { mutes, find: indexOf(policy, mutes) }
}

type Lists = ReadonlyArray<ReadonlyArray<Matcher>>

/** Under each policy, the latest index, and of what: most evaluations have the mutes of the one before. */
const latest = new WeakMap<Policy, { readonly lists: Lists; readonly find: FindMatching }>()

const indexOf = (policy: Policy, mutes: ReadonlyArray<Mute>): FindMatching => {
  const lists = mutes.map(({ matchers }) => matchers)
  const known = latest.get(policy)
  if (known !== undefined && areSame(known.lists, lists)) return known.find
  const find = indexMatchers(lists)
  latest.set(policy, { lists, find })
  return find
}

const areSame = Arr.makeEquivalence(
  Arr.makeEquivalence<Matcher>((a, b) => a.field === b.field && a.op === b.op && a.value === b.value),
)

/** Whether a matcher compares only what all members of an incident share. */
export const comparesShared = ({ field }: Matcher): boolean =>
  field === "incident_key" || field === "severity"

/**
 * The silences and windows that together cover every loud present member. They hold until the first
 * member is no longer covered by any of them.
 */
export const mutingHolds = ({ find, mutes }: Mutes, loud: LoudFacts): ReadonlyArray<Hold> => {
  if (mutes.length === 0) return []
  const members = loud.kind === "listed" ? loud.members : [loud.shared]
  const isCovering = mutes.map(() => false)
  let until: Instant.Instant | undefined
  for (const member of members) {
    let end: Instant.Instant | undefined
    for (const position of find(member)) {
      const mute = mutes[position]
      if (mute === undefined || (loud.kind === "too_many" && !mute.matchers.every(comparesShared))) continue
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

/** The silences and windows in force that match a check: lists, pages and exports all ask here (docs/rules.md#mutes). */
export const mutesOf = ({ find, mutes }: Mutes, facts: Partial<MatchedFacts>): ReadonlyArray<Mute["by"]> =>
  find(facts).flatMap((position) => mutes[position]?.by ?? [])

/** The receivers that are quiet at a moment: below which severity, until when, and when the next window begins. */
export type QuietReceivers = ReadonlyMap<
  NotifierName,
  {
    readonly below: Severity
    readonly until: Instant.Instant
    readonly lookAgainAt: Instant.Instant | undefined
  }
>

/** The receivers in whose quiet hours a moment is. */
export const quietReceivers = (
  { hasLaterSteps, receivers, windows }: Policy,
  now: Instant.Instant,
): QuietReceivers => {
  const isQuiet = Array.from(receivers.values()).some(({ quiet }) => quiet && occurrenceInForce(quiet, now))
  if (!isQuiet) return new Map()
  // Later steps begin again at the end of a window too that began and ended within them.
  const moving = hasLaterSteps ? windows : []
  const lookAgainAt = Instant.earliest(moving.map((window) => occurrenceAround(window, now).next))
  return new Map(
    Array.from(receivers).flatMap(([name, { quiet }]) => {
      const until = quiet && occurrenceInForce(quiet, now)?.ends_at
      return quiet && until !== undefined ? [[name, { below: quiet.below, until, lookAgainAt }] as const] : []
    }),
  )
}

/**
 * The quiet hours that hold a firing for these receivers (docs/rules.md#quiet-hours): where each of them is quiet,
 * until the first hours end.
 */
export const quietHolds = (
  receivers: QuietReceivers,
  named: Iterable<NotifierName>,
  { severity, announced = severity }: IncidentRecord,
): ReadonlyArray<Hold> => {
  const ends: Array<Instant.Instant> = []
  let lookAgainAt: Instant.Instant | undefined
  for (const name of named) {
    const quiet = receivers.get(name)
    if (quiet === undefined || !isBelow(announced, quiet.below)) return []
    ends.push(quiet.until)
    lookAgainAt = quiet.lookAgainAt
  }
  const until = Instant.earliest(ends)
  return until === undefined ? [] : [{ by: "quiet", until, lookAgainAt }]
}
