import { Duration } from "effect"
import * as Instant from "@tocsin/contract/Instant"
import type { OutboxRecord } from "../model/OutboxRecord.ts"
import { type Hold, UNTIL_A_CHANGE } from "./Hold.ts"
import type { ParentName, Parents } from "./parents.ts"

/** After its last parent ended, an incident has this long for its own recovery. */
const RECOVERY = Duration.minutes(2)
/** Parents that come and go hold a firing no longer than this from the first end on. */
const LONGEST = Duration.minutes(10)
/** A stale agent returns without an incident, and a parent may end unnoticed where it was just found. */
const LOOK_AGAIN = Duration.seconds(15)

/** The moments that a held firing keeps of its parents. */
export type ParentTimes = Pick<OutboxRecord, "first_parent_ended_at" | "parent_ended_at">

const NEVER: ParentTimes = { first_parent_ended_at: undefined, parent_ended_at: undefined }

type Waiting = ParentTimes & Pick<OutboxRecord, "age_starts_at" | "created_at" | "held_by">

const isParentName = (by: string): by is ParentName => by.startsWith("parent:")

/** Whether parents held a firing when its incident was last evaluated. */
export const isHeldByParent = ({ held_by }: Pick<OutboxRecord, "held_by">): boolean =>
  held_by?.some(isParentName) === true

interface Moments {
  readonly now: Instant.Instant
  /** When its routes make it due. */
  readonly due?: Instant.Instant | undefined
}

/** The holds of parents on a firing, and what it keeps of them. A new one has no `row` yet. */
export const holdByParents = (
  row: Waiting | undefined,
  parents: Parents,
  { due, now }: Moments,
): { readonly holds: ReadonlyArray<Hold>; readonly times: ParentTimes } => {
  const known = row === undefined ? NEVER : clampTimes(row, now)
  const before = row?.held_by?.filter(isParentName) ?? []
  const { holds, times } = parents.isPresent
    ? holdByPresent(known, before, parents, now)
    : holdByEnded(known, before, now)
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
  const again = isStale || isNew ? Instant.plus(now, LOOK_AGAIN) : undefined
  return { holds: names.map((by) => ({ by, until, again })), times }
}

const holdByEnded = (known: ParentTimes, before: ReadonlyArray<ParentName>, now: Instant.Instant) => {
  const ended = known.parent_ended_at ?? (before.length > 0 ? now : undefined)
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
const graceFrom = (row: Waiting | undefined, { due, now }: Moments): Instant.Instant | undefined => {
  if (row === undefined) return due ?? now
  // The creation of a row may have been dated ahead by a clock that was set back: such a row was free unless it is held.
  const hasEnded = row.created_at > now ? row.held_by === undefined : row.age_starts_at > row.created_at
  if (hasEnded) return undefined
  return due === undefined ? row.age_starts_at : Instant.max(row.age_starts_at, due)
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
