import * as Instant from "@tocsin/contract/formats/Instant"
import type { IncidentRecord } from "../model/IncidentRecord.ts"
import {
  ackOf,
  inOrder,
  isBehind,
  isHeld,
  isReplaced,
  isRetried,
  type OutboxRecord,
  OutboxTransitions,
  wasAttempted,
  wasReplaced,
} from "../model/OutboxRecord.ts"
import type { HoldName, StoredHold } from "../model/StoredHold.ts"
import { move } from "@tocsin/contract/formats/TransitionTable"
import type { WithIncident } from "../../kernel/unitOfWork/Search.ts"
import type { UnitOfWork } from "../../kernel/unitOfWork/UnitOfWork.ts"

/** Why a firing waits, and until when. */
export interface Hold extends Pick<StoredHold, "hasEnded" | "wasDue"> {
  readonly by: HoldName
  readonly until: Instant.Instant
  readonly since?: Instant.Instant
  /** When it may have ended earlier, unnoticed; or when another one may begin whose end begins steps. */
  readonly lookAgainAt?: Instant.Instant | undefined
}

/** The decided holds of a firing: the ones in force, and past ones that its row remembers. */
export interface Holds {
  readonly inForce: ReadonlyArray<Hold>
  readonly past: ReadonlyArray<StoredHold>
}

export const NO_HOLDS: Holds = { inForce: [], past: [] }

/** The end of a hold that only a change of the incident, or of the policy, ends. */
export const UNTIL_A_CHANGE = Instant.LATEST

/** The time of a stored hold. A double counts microseconds exactly until the year 2255. */
export const momentOf = (micros: number): Instant.Instant => Instant.fromMicros(BigInt(micros))

const stored = ({ by, hasEnded, since, until, wasDue }: Hold): StoredHold => ({
  by,
  ...(until !== UNTIL_A_CHANGE && { until: Number(until) }),
  ...(since !== undefined && { since: Number(since) }),
  ...(hasEnded && { hasEnded }),
  ...(wasDue && { wasDue }),
})

/** A firing waits until the last of its holds has ended; there is at least one. */
export const lastEnd = (holds: ReadonlyArray<Hold>): Instant.Instant =>
  holds.map(({ until }) => until).reduce(Instant.max)

/** When a firing under these holds is evaluated: also at the end of each that begins steps. */
const evaluatedAt = (holds: ReadonlyArray<Hold>): Instant.Instant =>
  holds
    .flatMap(({ lookAgainAt, until, wasDue }) => lookAgainAt ?? (wasDue === true ? until : []))
    .reduce(Instant.min, lastEnd(holds))

/** Whether holds apply: to a firing that was never attempted, and not released by hand. */
export const canBeHeld = (item: OutboxRecord): boolean =>
  item.event_type === "firing" &&
  item.state === "pending" &&
  item.released_at === undefined &&
  !wasAttempted(item)

/** Whether something may hold an item: a firing that waits for its first attempt, or for a further one. */
export const mayBeHeld = (item: OutboxRecord): boolean => canBeHeld(item) || isRetried(item)

/**
 * The firings for one receiver that wait under holds, in their order: where one was found to be held,
 * those behind it wait too, and those before it belong to their events. They become due as one.
 */
export const waitingUnderHolds = (
  items: ReadonlyArray<OutboxRecord>,
  receiver: OutboxRecord["receiver"],
): ReadonlyArray<OutboxRecord> => {
  const waiting = items.filter((item) => item.receiver === receiver && canBeHeld(item)).toSorted(inOrder)
  const first = waiting.findIndex(isHeld)
  return first === -1 ? [] : waiting.slice(first)
}

/** When the acknowledgement began that holds a firing in retry, or held it; absent if its row does not say so. */
export const quietSince = (item: Pick<OutboxRecord, "holds">): Instant.Instant | undefined => {
  const since = ackOf(item)?.since
  return since === undefined ? undefined : momentOf(since)
}

/** A firing in retry that an acknowledgement holds. Its end replaces the row; another server may look again then. */
const quieted = (item: OutboxRecord, inForce: ReadonlyArray<Hold>): OutboxRecord => ({
  ...item,
  state: move(OutboxTransitions, "retry", "held"),
  next_attempt_at: lastEnd(inForce),
  holds: isReplaced(item) ? item.holds : inForce.map(stored),
})

/**
 * The firings in retry of an incident that is acknowledged: since then, or since it first was without an end between.
 * A first attempt leaves its row the past holds that an evaluation remembered; a retry needs them no more.
 */
export const beginQuiet = (
  unit: UnitOfWork,
  { id }: Pick<IncidentRecord, "id">,
  since: Instant.Instant,
): void => {
  for (const item of unit.outbox.group(id))
    if (isRetried(item) && ackOf(item) === undefined)
      unit.outbox.put({ ...item, holds: [{ by: "ack", since: Number(since) }] })
}

/**
 * The firings in retry of an incident whose acknowledgement ends: an evaluation puts others in their place, each that of
 * a server which has its receiver. It held what waits behind one that was attempted, too, which no claim has looked at.
 */
export const endQuiet = (unit: UnitOfWork, incident: Pick<IncidentRecord, "ack_at" | "id">): void => {
  const { now } = unit
  const items = unit.outbox.group(incident.id)
  const isOnItsWay = (item: OutboxRecord) => item.event_type === "firing" && !canBeHeld(item)
  for (const item of items.filter(isRetried))
    unit.outbox.put({ ...afterQuiet(item, incident), next_evaluation_at: now })
  for (const behind of items) {
    if (!canBeHeld(behind) || isHeld(behind)) continue
    if (!items.some((item) => isOnItsWay(item) && isBehind(behind, item))) continue
    const holds = { inForce: [{ by: "ack", until: now } as const], past: behind.holds ?? [] }
    unit.outbox.put(heldItem(behind, holds, now))
  }
}

/** A firing in retry as the acknowledgement of its incident ends. */
export const afterQuiet = (item: OutboxRecord, { ack_at }: Pick<IncidentRecord, "ack_at">): OutboxRecord => {
  const since = quietSince(item) ?? ack_at
  const attempted = Number(item.updated_at)
  const times = { attempted, ...(since !== undefined && { since: Number(since) }) }
  return { ...item, holds: [{ by: "ack", hasEnded: true, ...times }] }
}

/**
 * When the last attempt of a firing ended, if it was attempted and does not wait. A row that an acknowledgement's end
 * discarded changed then, too; one of another version says only when its first attempt began.
 */
export const lastAttempted = (item: OutboxRecord): Instant.Instant => {
  const { first_attempted_at, updated_at } = item
  if (!wasReplaced(item)) return updated_at
  const attempted = ackOf(item)?.attempted
  // A clock that was set back leaves both ahead, but not the last change.
  return Instant.min(
    attempted === undefined ? (first_attempted_at ?? updated_at) : momentOf(attempted),
    updated_at,
  )
}

/** A firing under these holds: not due, and evaluated again when the last of them ends, or may have. */
export const heldItem = (
  item: OutboxRecord,
  { inForce, past }: Holds,
  now: Instant.Instant,
): OutboxRecord => ({
  ...item,
  state: move(OutboxTransitions, "pending", "held"),
  next_attempt_at: undefined,
  holds: [...inForce.map(stored), ...past],
  next_evaluation_at: evaluatedAt(inForce),
  updated_at: isHeld(item) ? item.updated_at : now,
})

/**
 * A firing that a claim finds to be held. A claim does not see the firings behind it: if there may be
 * any, its incident is evaluated soon.
 */
export const heldAtClaim = (
  { incident, row }: WithIncident<OutboxRecord>,
  holds: Holds,
  now: Instant.Instant,
): OutboxRecord => {
  if (row.state === "retry") return quieted(row, holds.inForce)
  const item = heldItem(row, holds, now)
  return incident.member_changes > row.incident_seq ? { ...item, next_evaluation_at: now } : item
}

/** A firing that nothing holds any more: due, with what its incident shows now. */
export const freed = (
  item: OutboxRecord,
  { severity, summary }: IncidentRecord,
  trigger: "hold_ended" | "released",
  { now, past }: Pick<Holds, "past"> & { readonly now: Instant.Instant },
): OutboxRecord => ({
  ...item,
  state: move(OutboxTransitions, "pending", trigger),
  severity,
  summary,
  next_attempt_at: now,
  is_backfill: item.is_backfill && trigger !== "released",
  holds: past.length > 0 ? past : undefined,
  next_evaluation_at: undefined,
  age_starts_at: now,
  updated_at: now,
})

/** Whether a firing of an incident was found to be held. */
export const hasHeld = (unit: UnitOfWork, { id }: Pick<IncidentRecord, "id">): boolean =>
  unit.outbox.group(id).some(isHeld)
