import { Duration } from "effect"
import * as Instant from "@tocsin/contract/Instant"
import type { OutboxRecord } from "../model/OutboxRecord.ts"
import { type Hold, UNTIL_A_CHANGE } from "./Hold.ts"
import { isParentName, type ParentName, type Parents } from "./parents.ts"

/** After its last parent ended, an incident has this long for its own recovery. */
const RECOVERY = Duration.minutes(2)
/** Parents that come and go hold a firing no longer than this from the first end on. */
const LONGEST = Duration.minutes(10)
/** A stale agent returns without an incident, and a parent may end unnoticed where it was just found. */
const LOOK_AGAIN = Duration.seconds(15)

/** The moments that a held firing keeps of its parents. */
export type ParentTimes = Pick<OutboxRecord, "first_parent_ended_at" | "parent_ended_at">

const NEVER: ParentTimes = { first_parent_ended_at: undefined, parent_ended_at: undefined }

/** The columns of a firing on which the holds of parents depend. */
export type HeldRow = ParentTimes &
  Pick<OutboxRecord, "age_starts_at" | "created_at" | "held_by" | "next_evaluation_at">

/** `due` is when its delay ends, if a firing has one. */
export interface Moments {
  readonly now: Instant.Instant
  readonly due?: Instant.Instant | undefined
}

/** The holds of parents on a firing, and what it keeps of them. A new one has no `row` yet. */
export const holdByParents = (
  row: HeldRow | undefined,
  parents: Parents,
  { due, now }: Moments,
): { readonly holds: ReadonlyArray<Hold>; readonly times: ParentTimes } => {
  const known = row === undefined ? NEVER : clampTimes(row, now)
  const before = row?.held_by?.filter(isParentName) ?? []
  const { holds, times } = parents.isPresent
    ? holdByPresent(known, before, parents, now)
    : holdByEnded(known, before, parents, now)
  return { holds: [...holds, ...graceHolds(parents, graceFrom(row, { due, now }), now)], times }
}

const holdByPresent = (
  known: ParentTimes,
  before: ReadonlyArray<ParentName>,
  { isStale, names }: Parents,
  now: Instant.Instant,
) => {
  const times = { ...known, parent_ended_at: undefined }
  const first = known.first_parent_ended_at
  const until = first === undefined ? UNTIL_A_CHANGE : Instant.plus(first, LONGEST)
  if (until <= now) return { holds: [], times }
  const isNew = names.some((name) => !before.includes(name))
  const lookAgainAt = isStale || isNew ? Instant.plus(now, LOOK_AGAIN) : undefined
  return { holds: names.map((by) => ({ by, until, lookAgainAt })), times }
}

/** A member that no parent explains ends no parent: then nothing waits for a recovery. */
const holdByEnded = (
  known: ParentTimes,
  before: ReadonlyArray<ParentName>,
  { lasting }: Parents,
  now: Instant.Instant,
) => {
  const hasEnded = before.some((name) => !lasting.has(name))
  const ended = known.parent_ended_at ?? (hasEnded ? now : undefined)
  if (ended === undefined) return { holds: [], times: known }
  const first = known.first_parent_ended_at ?? ended
  const until = Instant.min(Instant.plus(ended, RECOVERY), Instant.plus(first, LONGEST))
  const times = { parent_ended_at: ended, first_parent_ended_at: first }
  return { holds: until <= now ? [] : before.map((by) => ({ by, until })), times }
}

/** A clock that was set back may have dated them ahead. */
const clampTimes = ({ first_parent_ended_at, parent_ended_at }: ParentTimes, now: Instant.Instant) => ({
  first_parent_ended_at: first_parent_ended_at && Instant.min(first_parent_ended_at, now),
  parent_ended_at: parent_ended_at && Instant.min(parent_ended_at, now),
})

/** Whether a firing keeps the same of its parents. */
export const hasSameTimes = (a: ParentTimes, b: ParentTimes): boolean =>
  a.first_parent_ended_at === b.first_parent_ended_at && a.parent_ended_at === b.parent_ended_at

/** The due time of a firing; absent if its holds have ended before. */
const graceFrom = (row: HeldRow | undefined, { due, now }: Moments): Instant.Instant | undefined => {
  if (row === undefined) return due ?? now
  const { age_starts_at, created_at, next_evaluation_at } = row
  const isSince = age_starts_at !== created_at
  // A clock that was set back may have dated the creation ahead: such a row was free, unless it is held or just written.
  const hasEnded = created_at > now ? isSince && next_evaluation_at === undefined : age_starts_at > created_at
  const from = Instant.min(age_starts_at, now)
  return hasEnded ? undefined : Instant.max(from, due ?? from)
}

const graceHolds = (
  { grace, names }: Parents,
  from: Instant.Instant | undefined,
  now: Instant.Instant,
): ReadonlyArray<Hold> => {
  if (Duration.isZero(grace) || from === undefined || names.length > 0) return []
  const until = Instant.plus(from, grace)
  return until <= now ? [] : [{ by: "parent_grace", until }]
}
