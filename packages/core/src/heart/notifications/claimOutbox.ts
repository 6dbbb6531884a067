import { Duration, Effect, Fiber } from "effect"
import { acknowledgementInForce } from "../model/Acknowledgement.ts"
import type { OutboxId } from "@tocsin/contract/formats/Identifiers"
import * as Instant from "@tocsin/contract/formats/Instant"
import type { FoundRunbook } from "@tocsin/contract/policy/PolicyDocument"
import type { NotifierName } from "@tocsin/contract/formats/Status"
import { move } from "@tocsin/contract/formats/TransitionTable"
import {
  commandOf,
  type Decision,
  loneCommandOf,
  type LoneDecision,
} from "../../kernel/unitOfWork/Decision.ts"
import { find, type Found, type LoudMember, type WithIncident } from "../../kernel/unitOfWork/Search.ts"
import type { UnitOfWork } from "../../kernel/unitOfWork/UnitOfWork.ts"
import type { IncidentRecord } from "../model/IncidentRecord.ts"
import { type FiringOptions, gatherDue, WITHOUT_POLICY } from "../firings/gatherFacts.ts"
import { firstPiece, MOST_EVALUATED } from "../firings/loudMembers.ts"
import { heldAtClaim } from "../firings/Hold.ts"
import { type DeliveryAttempt, incidentFacts } from "./Notifiers.ts"
import { type OutboxRecord, OutboxTransitions } from "../model/OutboxRecord.ts"
import { chooseInFlood, gathered, isByTurn, loadFlood, MOST_IN_DIGEST } from "./floods.ts"
import { findPhone } from "./phoneTurns.ts"
import { type Claim, isSending, type Sending } from "./recordResults.ts"
import { Commits } from "../../kernel/engine/commits/Commits.ts"

export interface ClaimInput {
  readonly receivers: ReadonlyArray<NotifierName>
  readonly limit: number
  /** Where more items than this are due, the claim takes them for a digest, up to {@link MOST_IN_DIGEST}. */
  readonly digestOver?: number | undefined
  /** Whether many messages of a minute go together to its only receiver. */
  readonly isFlooded?: boolean | undefined
  /** How long the claim holds, by the storage's clock (SERVICE_DELIVERY_LEASE). */
  readonly lease: Duration.Duration
  readonly holds?: FiringOptions
  /** Whether its only receiver is a phone: what is due is one call about notifications of one type, firings first. */
  readonly isPhone?: boolean | undefined
}

/** In a call about more, one does not know what a key would acknowledge. */
export const MOST_WITH_KEY = 10

/** The rows that the key of a call acknowledges beside the first one. */
const calledWith = (
  [first, ...others]: ReadonlyArray<FreeItem>,
  isPhone: boolean,
): ReadonlyArray<OutboxId> | undefined => {
  const isKey = isPhone && others.length > 0 && others.length < MOST_WITH_KEY
  return isKey && first?.row.event_type === "firing" ? others.map(({ row }) => row.id) : undefined
}

/** A claimed item, and the notification to send. */
export interface ClaimedItem {
  readonly claim: Claim
  readonly notification: DeliveryAttempt
  /** Whether its claim found enough for a digest. */
  readonly isInDigest: boolean
  /** Whether a change of who is on call made it owed. */
  readonly isByTurn: boolean
  /** The worst loud member of a firing's incident, if that is open. */
  readonly worst: LoudMember | undefined
}

export interface Claimed {
  readonly items: ReadonlyArray<ClaimedItem>
  /** Claims whose lease has expired. Another transaction ends them, since incidents are locked before their items. */
  readonly expired: ReadonlyArray<Claim>
  /** Whether more may be due than the claim read. */
  readonly isCut: boolean
}

/**
 * Claims outbox items that are due: each becomes `sending` for this worker until its lease ends.
 * Holds the firings that are not to be sent now.
 */
export const claimOutbox = loneCommandOf(function* (unit, input: ClaimInput): LoneDecision<Claimed> {
  const { now } = unit
  const { digestOver, isFlooded, isPhone, receivers } = input
  const [receiver = ""] = receivers
  const phone = isPhone === true ? yield* findPhone(unit, receiver, now) : undefined
  if (phone?.isResting === true) return { items: [], expired: [], isCut: false }
  const isSingle = digestOver === undefined && isFlooded !== true
  const limit = isSingle ? input.limit : Math.max(input.limit, MOST_IN_DIGEST, (digestOver ?? 0) + 1)
  const { due, expired, free, held, storageTime } = yield* search(unit, { ...input, limit }, now)
  for (const item of held) unit.outbox.put(item)
  const leased_until = Instant.plus(storageTime, input.lease)
  const wanted = phone === undefined ? free : firstType(free)
  const isDigest = digestOver !== undefined && (phone === undefined ? due : wanted.length) > digestOver
  const flood = isFlooded === true && free.length > 0 ? yield* loadFlood(unit, receiver) : undefined
  const chosen = flood && chooseInFlood(wanted, flood.before, now)
  if (chosen !== undefined) flood?.keep(chosen.flood)
  for (const [{ row }, until] of chosen?.waiting ?? []) unit.outbox.put(gathered(row, until, now))
  const together = new Set(isDigest ? wanted : chosen?.together)
  const taken = chosen
    ? [...chosen.together, ...chosen.singly]
    : wanted.slice(0, isDigest ? MOST_IN_DIGEST : input.limit)
  if (taken.length > 0) phone?.begin()
  const called_with = calledWith(taken, phone !== undefined)
  const items = taken.map((found, place) => {
    const { item, notification } = claim(found, leased_until, now)
    unit.outbox.put({ ...item, called_with: place === 0 ? called_with : undefined })
    const { id, incident_id, notifier } = item
    return {
      claim: { id, notifier, incident_id, leased_until, call_began_at: phone && now },
      notification: { ...notification, runbook: found.runbook },
      isInDigest: together.has(found),
      isByTurn: isByTurn(item),
      worst: found.worst,
    }
  })
  return { items, expired, isCut: chosen === undefined ? items.length >= input.limit : free.length >= limit }
})

/** The firings, or the resolved if there are none. */
const firstType = (items: ReadonlyArray<FreeItem>): ReadonlyArray<FreeItem> => {
  const firings = items.filter(({ row }) => row.event_type === "firing")
  return firings.length > 0 ? firings : items
}

/** An item as its claim leaves it, and what to send. */
export const claim = (
  { incident, row }: WithIncident<OutboxRecord>,
  leased_until: Instant.Instant,
  now: Instant.Instant,
) => {
  if (row.state !== "pending" && row.state !== "retry")
    throw new Error(`outbox item ${row.id} is not waiting`)
  const item: Sending = {
    ...row,
    state: move(OutboxTransitions, row.state, "claimed"),
    attempts: row.attempts + 1,
    first_attempted_at: row.first_attempted_at ?? now,
    leased_until,
    next_attempt_at: undefined,
    holds: row.state === "retry" ? undefined : row.holds,
    updated_at: now,
  }
  return { item, notification: toNotification(item, incident, { due_at: row.next_attempt_at ?? now, now }) }
}

/** Most due items that one claim reads: where many are held, a claim must still reach those behind. */
const MOST_READ = 512

/** A due item that nothing holds. */
interface FreeItem extends WithIncident<OutboxRecord> {
  readonly runbook: FoundRunbook | undefined
  readonly worst: LoudMember | undefined
}

interface JudgedItems {
  readonly free: ReadonlyArray<FreeItem>
  /** The others, as they wait under their holds. */
  readonly held: ReadonlyArray<OutboxRecord>
}

/**
 * Looks for holds of due items. They were decided when each became due, but a silence, a window, quiet hours, a parent or
 * another policy may have begun since (docs/decisions/0038).
 */
export function* judgeDue(
  unit: UnitOfWork,
  due: ReadonlyArray<WithIncident<OutboxRecord>>,
  options: FiringOptions,
  now: Instant.Instant,
): LoneDecision<JudgedItems> {
  const firings = due.filter(({ row }) => row.event_type === "firing")
  const { onDue, runbookOf, worstOf } = yield* gatherDue(unit, firings.map(incidentOf), options, now)
  const free: Array<FreeItem> = []
  const held: Array<OutboxRecord> = []
  for (const found of due) {
    const holds = onDue(found.incident, found.row)
    if (holds.inForce.length > 0) held.push(heldAtClaim(found, holds, now))
    else free.push({ ...found, runbook: runbookOf(found.incident), worst: worstOf(found.incident) })
  }
  return { free, held }
}

/**
 * Finds due items until `limit` of them are free. A search has no place to continue from, so each round reads twice as
 * many from the start, and judges the new ones. It judges only as many as have so many members in their incidents:
 * the next claim judges the others.
 */
function* search(
  unit: UnitOfWork,
  { holds: options = WITHOUT_POLICY, limit, receivers }: ClaimInput,
  now: Instant.Instant,
): LoneDecision<
  Pick<Found<"claimableOutbox">, "expired" | "storageTime"> &
    JudgedItems & {
      /** How many are due and not held, as far as they were judged. */
      readonly due: number
    }
> {
  const judged = new Set<OutboxId>()
  const free: Array<FreeItem> = []
  const held: Array<OutboxRecord> = []
  for (let width = limit; ; width *= 2) {
    const { due, expired, storageTime } = yield* find("claimableOutbox", { receivers, limit: width })
    const piece = firstPiece(due.map(incidentOf), MOST_EVALUATED)
    const others = due.slice(0, piece.length).filter(({ row }) => !judged.has(row.id))
    for (const { row } of others) judged.add(row.id)
    const found = yield* judgeDue(unit, others, options, now)
    free.push(...found.free)
    held.push(...found.held)
    const mayFindMore = piece.length === width && width < MOST_READ
    if (free.length >= limit || !mayFindMore)
      return { due: Math.min(due.length - held.length, limit), expired, free, held, storageTime }
  }
}

const incidentOf = ({ incident }: WithIncident<OutboxRecord>): IncidentRecord => incident

/** The notification that an item sends. */
export const toNotification = (
  item: OutboxRecord,
  incident: IncidentRecord,
  { due_at, now }: { readonly due_at: Instant.Instant; readonly now: Instant.Instant },
): DeliveryAttempt => ({
  id: item.id,
  receiver: item.receiver,
  notifier: item.notifier,
  event_type: item.event_type,
  cause: item.cause,
  reason: item.why,
  severity: item.severity,
  summary: item.summary,
  created_at: item.created_at,
  age_starts_at: item.age_starts_at,
  due_at,
  acknowledgement: acknowledgementInForce(incident, now),
  ...(item.recipients !== undefined && { recipients: item.recipients }),
  attempt: item.attempts,
  incident: incidentFacts(incident),
})

/** Moves the ends of claims whose attempts still run; returns those that still hold. */
const renewClaims = commandOf(function* (
  unit,
  { by, claims }: { readonly claims: ReadonlyArray<Claim>; readonly by: Duration.Duration },
): Decision<ReadonlyArray<Claim>> {
  const outbox = claims.map(({ id }) => id).filter((id) => !unit.outbox.isLoaded(id))
  if (outbox.length > 0) yield { rows: { outbox } }
  return claims.flatMap((held) => {
    const item = unit.outbox.get(held.id)
    if (!isSending(item) || item.leased_until !== held.leased_until) return []
    const leased_until = item.leased_until && Instant.plus(item.leased_until, by)
    unit.outbox.put({ ...item, leased_until })
    return [{ ...held, leased_until }]
  })
})

/** The claims of an attempt; their leases move while it runs. */
export interface Held {
  claims: ReadonlyArray<Claim>
}

/** Returns a function that runs an attempt; if the attempt `mayOutlast` a lease, its claims are renewed meanwhile. */
export const makeKeepClaims = Effect.fnUntraced(function* (lease: Duration.Duration) {
  const commits = yield* Commits
  const third = Duration.divideUnsafe(lease, 3)
  const renew = Effect.fnUntraced(function* (held: Held) {
    let from = yield* Instant.now
    while (held.claims.length > 0) {
      yield* Effect.sleep(third)
      const now = yield* Instant.now
      // By a lease at most, where a clock was set ahead.
      const by = Duration.clamp(Duration.micros(now - from), { minimum: Duration.zero, maximum: lease })
      const renewing = Effect.map(commits.transact(renewClaims({ claims: held.claims, by })), (claims) => {
        held.claims = claims
        from = now
      })
      // A commit that is not noted would make the attempt's result count as another claim's.
      yield* Effect.uninterruptible(Effect.ignore(renewing))
    }
  })
  return Effect.fnUntraced(function* <A>(held: Held, attempt: Effect.Effect<A>, mayOutlast = false) {
    if (!mayOutlast) return yield* attempt
    const renewing = yield* Effect.forkChild(Effect.interruptible(renew(held)))
    const made = yield* attempt
    yield* Fiber.interrupt(renewing)
    return made
  })
})
