import type * as Instant from "@tocsin/contract/Instant"
import type { Matcher } from "@tocsin/contract/Matcher"
import type { Policy } from "../policy/compilePolicy.ts"
import { type FindMatching, indexMatchers } from "../policy/indexMatchers.ts"
import { occurrenceInForce } from "../policy/occurrences.ts"
import type { SilenceRecord } from "../model/SilenceRecord.ts"
import type { Mute, Mutes } from "./computeHolds.ts"
import { endAfterGrace, type OutageGrace } from "./outageGrace.ts"

interface MuteSources {
  readonly policy: Policy
  /** Those that have begun, and have not ended when this outage began. */
  readonly silences: ReadonlyArray<SilenceRecord>
  readonly grace: OutageGrace | undefined
}

/** The silences and maintenance windows that are in force at a moment, while agents settle too. */
export const activeMutes = ({ policy, grace, silences }: MuteSources, now: Instant.Instant): Mutes => {
  const all: ReadonlyArray<Mute> = [
    ...silences.flatMap(({ ends_at, id, matchers }) =>
      // Without matchers its row is damaged: an empty list would match everything.
      matchers.length === 0 ? [] : ({ by: `silence:${id}`, until: ends_at, matchers } as const),
    ),
    ...policy.windows.flatMap((window) => {
      const occurrence =
        occurrenceInForce(window, now) ?? (grace && occurrenceInForce(window, grace.began_at))
      return occurrence === undefined
        ? []
        : ({ by: `window:${window.name}`, until: occurrence.ends_at, matchers: window.match } as const)
    }),
  ]
  const mutes = all
    .map((mute) => ({ ...mute, until: endAfterGrace(mute.until, grace) }))
    .filter(({ until }) => now < until)
  return { mutes, find: indexOf(policy, mutes) }
}

type Lists = ReadonlyArray<ReadonlyArray<Matcher>>

/** Under each policy, the latest index, and of what: most looks have the covers of the look before. */
const latest = new WeakMap<Policy, { readonly lists: Lists; readonly find: FindMatching }>()

const indexOf = (policy: Policy, mutes: ReadonlyArray<Mute>): FindMatching => {
  const lists = mutes.map(({ matchers }) => matchers)
  const known = latest.get(policy)
  if (known !== undefined && areSame(known.lists, lists)) return known.find
  const find = indexMatchers(lists)
  latest.set(policy, { lists, find })
  return find
}

const areSame = (a: Lists, b: Lists): boolean =>
  a.length === b.length && a.every((list, n) => isSame(list, b[n] ?? []))

const isSame = (a: ReadonlyArray<Matcher>, b: ReadonlyArray<Matcher>): boolean =>
  a === b ||
  (a.length === b.length &&
    a.every(({ field, op, value }, n) => field === b[n]?.field && op === b[n]?.op && value === b[n]?.value))
