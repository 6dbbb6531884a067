import { Duration } from "effect"
import * as Instant from "@tocsin/contract/formats/Instant"
import { holdsInForce, type OutboxRecord } from "../model/OutboxRecord.ts"
import type { StoredHold } from "../model/StoredHold.ts"
import { type Hold, type Holds, momentOf, NO_HOLDS, UNTIL_A_CHANGE } from "./Hold.ts"
import { isParentName, PARENT, type ParentName, type Parents } from "./parents.ts"

/** After its last parent ended, an incident has this long for its own recovery. */
const RECOVERY = Duration.minutes(2)
/** Parents that come and go hold a firing no longer than this from the first end on. */
const LONGEST = Duration.minutes(10)
/** A stale agent returns without an incident, and a parent may end unnoticed where it was just found. */
const LOOK_AGAIN = Duration.seconds(15)

/** The columns of a firing on which its holds depend. */
export type HeldRow = Pick<OutboxRecord, "age_starts_at" | "created_at" | "holds" | "next_evaluation_at">

/** `due` is when its delay ends, if a firing has one. */
interface Moments {
  readonly now: Instant.Instant
  readonly due?: Instant.Instant | undefined
}

type ParentHold = StoredHold & { readonly by: ParentName }

const isParent = (hold: StoredHold): hold is ParentHold => isParentName(hold.by)

/** The holds of parents on a firing. A new one has no `row` yet. */
export const holdByParents = (row: HeldRow | undefined, parents: Parents, { due, now }: Moments): Holds => {
  const grace = graceHolds(parents, graceFrom(row, { due, now }), now)
  const since = row?.holds?.find((hold) => isParent(hold) && hold.since !== undefined)?.since
  // A clock that was set back may have dated it ahead.
  const known = since === undefined ? undefined : Instant.min(momentOf(since), now)
  const before = row === undefined ? [] : holdsInForce(row).filter(isParent)
  const { inForce, past } = parents.isPresent
    ? holdByPresent(before, parents, known, now)
    : holdByEnded(before, parents, known, now)
  return { inForce: [...inForce, ...grace], past }
}

/** Parents hold no more. Their first end is kept: they hold a bounded time from then on. */
const noParents = (since: Instant.Instant | undefined): Holds =>
  since === undefined
    ? NO_HOLDS
    : { inForce: [], past: [{ by: PARENT, since: Number(since), hasEnded: true }] }

const holdByPresent = (
  before: ReadonlyArray<ParentHold>,
  { isStale, names }: Parents,
  since: Instant.Instant | undefined,
  now: Instant.Instant,
): Holds => {
  const until = since === undefined ? UNTIL_A_CHANGE : Instant.plus(since, LONGEST)
  if (until <= now || names.length === 0) return noParents(since)
  const isNew = names.some((name) => !before.some(({ by }) => by === name))
  const lookAgainAt = isStale || isNew ? Instant.plus(now, LOOK_AGAIN) : undefined
  const hold = { until, lookAgainAt, ...(since !== undefined && { since }) }
  return { inForce: names.map((by) => ({ by, ...hold })), past: [] }
}

/** A member that no parent explains ends no parent: then nothing waits for a recovery. */
const holdByEnded = (
  before: ReadonlyArray<ParentHold>,
  { lasting }: Parents,
  since: Instant.Instant | undefined,
  now: Instant.Instant,
): Holds => {
  const recovering = before.find(({ hasEnded }) => hasEnded)
  const hasEnded = recovering !== undefined || before.some(({ by }) => !lasting.has(by))
  if (!hasEnded) return noParents(since)
  const first = since ?? now
  const latest = Instant.min(Instant.plus(now, RECOVERY), Instant.plus(first, LONGEST))
  const until = recovering?.until === undefined ? latest : Instant.min(momentOf(recovering.until), latest)
  if (until <= now) return noParents(first)
  return { inForce: before.map(({ by }) => ({ by, until, since: first, hasEnded: true as const })), past: [] }
}

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
