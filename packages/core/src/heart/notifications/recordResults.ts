import { Duration } from "effect"
import * as Instant from "@tocsin/contract/formats/Instant"
import type { NotifierName } from "@tocsin/contract/formats/Status"
import { cleanOutput } from "@tocsin/contract/formats/outputText"
import { move } from "@tocsin/contract/formats/TransitionTable"
import { commandOf, type Decision, load } from "../../kernel/unitOfWork/Decision.ts"
import type { UnitOfWork } from "../../kernel/unitOfWork/UnitOfWork.ts"
import type { IncidentRecord } from "../model/IncidentRecord.ts"
import type { SendResult } from "./Notifiers.ts"
import { LOST_AFTER } from "../firings/namedRotas.ts"
import { recordDelivered } from "./alertDecisions.ts"
import {
  discarded,
  type OutboxRecord,
  OutboxTransitions,
  isFiringOrReplaced,
  isUnended,
  wasAttempted,
} from "../model/OutboxRecord.ts"

const MAX_ATTEMPTS = 14
/** The age after which an item is not retried (docs/rules.md#delivery). */
export const MAX_AGE = Duration.hours(24)

const LONGEST_RETRY_AFTER = Duration.hours(1)
const JITTER = 0.2

const DELAY_SECONDS: ReadonlyArray<number> = [5, 30, 120, 300, 900, 1_800, 3_600, 7_200]
const LAST_DELAY_SECONDS = 14_400

/** The longest delay before a next attempt. */
export const LONGEST_RETRY = Duration.seconds(LAST_DELAY_SECONDS * (1 + JITTER))

/**
 * The delay before the next attempt: by the schedule, ± a fifth, or what the receiver asked for if
 * that is later, up to an hour (docs/rules.md#delivery).
 */
export const retryDelay = (
  attempts: number,
  random: number,
  retryAfterSeconds?: number,
): Duration.Duration => {
  const seconds = DELAY_SECONDS[attempts - 1] ?? LAST_DELAY_SECONDS
  const scheduled = Duration.seconds(seconds * (1 - JITTER + 2 * JITTER * random))
  if (retryAfterSeconds === undefined) return scheduled
  return Duration.max(scheduled, Duration.min(Duration.seconds(retryAfterSeconds), LONGEST_RETRY_AFTER))
}

/** Whether the limits on attempts and age allow another attempt. */
export const mayRetry = (
  { attempts, age_starts_at }: Pick<OutboxRecord, "attempts" | "age_starts_at">,
  now: Instant.Instant,
): boolean => attempts < MAX_ATTEMPTS && now < Instant.plus(age_starts_at, MAX_AGE)

/** Whether the receiver refused it for good. One that failed at the limits may have arrived unnoticed. */
export const wasRefused = (item: OutboxRecord): boolean =>
  item.state === "failed" && (isBounced(item) || mayRetry(item, item.updated_at))

const BOUNCED = "bounced: "
/** Whether a recipient of the mail bounced it after it was sent. */
export const isBounced = ({ last_error }: OutboxRecord): boolean => last_error?.startsWith(BOUNCED) === true

/** Whether a firing may have arrived: it was attempted and never refused. */
export const mayArrive = (item: OutboxRecord): boolean => wasAttempted(item) && !wasRefused(item)

/**
 * How an attempt ended: `released` if the service stopped during it, `unsent` if it did not begin, or
 * was a digest that was refused.
 */
export type AttemptResult = SendResult | { readonly outcome: "released" } | { readonly outcome: "unsent" }

/** A claimed item, and the end of its lease, which distinguishes this claim from every other. */
export interface Claim extends Pick<OutboxRecord, "id" | "incident_id" | "leased_until"> {
  /** The kind of notifier that sends it. A reload may have changed it since the item was written. */
  readonly notifier: NotifierName
  /** When the call begins that carries it; absent for other receivers than phones. */
  readonly call_began_at?: Instant.Instant | undefined
}

export type Sending = OutboxRecord & { readonly state: "sending" }

export const isSending = (item: OutboxRecord | undefined): item is Sending => item?.state === "sending"

/** The error of an attempt that was released: no fault of its receiver. */
export const SERVICE_STOPPED = "the service stopped during the attempt"

export const LEASE_EXPIRED = {
  outcome: "deferred",
  error: "the attempt did not finish before its lease expired",
} as const satisfies AttemptResult

/** A claimed item that was not attempted singly (docs/rules.md#delivery). */
const withdrawn = (item: Sending, now: Instant.Instant): OutboxRecord => ({
  ...item,
  state: move(OutboxTransitions, item.state, "withdrawn"),
  attempts: item.attempts - 1,
  // The claim set both, if none was made before: also not at the same moment.
  first_attempted_at:
    item.attempts === 1 && item.first_attempted_at === item.updated_at ? undefined : item.first_attempted_at,
  leased_until: undefined,
  // It keeps its place before those that became due later. A clock may have been set back since its claim.
  next_attempt_at: Instant.min(item.attempts === 1 ? item.age_starts_at : item.updated_at, now),
  updated_at: now,
})

/** An item after its attempt, which is the last one if that was decided when its incident resolved. */
export const attempted = (
  { discarded_because, ...item }: Sending,
  result: AttemptResult,
  now: Instant.Instant,
  random: number,
): OutboxRecord => {
  const ended = afterAttempt({ ...item, discarded_because: undefined }, result, now, random)
  return discarded_because === undefined || !isUnended(ended)
    ? ended
    : discarded(ended, "incident_resolved", now)
}

/** An item after its attempt (docs/rules.md#delivery). */
const afterAttempt = (
  item: Sending,
  result: AttemptResult,
  now: Instant.Instant,
  random: number,
): OutboxRecord => {
  const ended = {
    ...item,
    leased_until: undefined,
    next_attempt_at: undefined,
    recipients: undefined,
    updated_at: now,
  }
  if (result.outcome === "delivered") {
    return { ...ended, state: move(OutboxTransitions, item.state, "delivered"), last_error: result.error }
  }
  if (result.outcome === "shadow") {
    const state = move(OutboxTransitions, item.state, "shadowed")
    return { ...ended, state, discarded_because: "shadowed", last_error: undefined }
  }
  if (result.outcome === "unsent") return withdrawn(item, now)
  // A program's own notifier may return any text, and not every storage keeps it.
  const last_error = result.outcome === "released" ? SERVICE_STOPPED : cleanOutput(result.error)
  const recipients = (result.outcome === "deferred" ? result.recipients : undefined) ?? item.recipients
  if (result.outcome === "refused" || !mayRetry(item, now)) {
    const isWithSome = recipients?.some(({ refused }) => refused === undefined)
    const trigger = isWithSome === true ? "delivered" : "refused"
    return { ...ended, state: move(OutboxTransitions, item.state, trigger), last_error }
  }
  const delay =
    result.outcome === "released"
      ? Duration.zero
      : retryDelay(item.attempts, random, result.retryAfterSeconds)
  return {
    ...ended,
    state: move(OutboxTransitions, item.state, "deferred"),
    // A clock may have been set back since its claim.
    first_attempted_at: item.first_attempted_at && Instant.min(item.first_attempted_at, now),
    next_attempt_at: Instant.plus(now, delay),
    recipients,
    last_error,
  }
}

/** `given_up`: the item is a dead letter. `lost`: the lease expired, so this result no longer counts. */
export type Recorded = "stored" | "given_up" | "lost"

export interface EndedAttempt {
  readonly claim: Claim
  readonly result: AttemptResult
  /** A random number from 0 up to 1, for the delay before the next attempt. */
  readonly random: number
}

/** Whether the end of an attempt may change more than its item. */
export const needsIncident = ({ claim, result }: EndedAttempt): boolean =>
  claim.notifier === "alert_router" || (result.outcome !== "delivered" && result.outcome !== "shadow")

/** Ends claims, each by the result of its attempt (docs/rules.md#delivery). */
export const recordResults = commandOf(function* (
  unit,
  attempts: ReadonlyArray<EndedAttempt>,
): Decision<ReadonlyArray<Recorded>> {
  // Incidents are locked before their outbox items, everywhere.
  const incidents = new Set(attempts.filter(needsIncident).map(({ claim }) => claim.incident_id))
  if (incidents.size > 0) yield* load(unit, { incidents: Array.from(incidents) })
  const outbox = attempts.map(({ claim }) => claim.id).filter((id) => !unit.outbox.isLoaded(id))
  if (outbox.length > 0) yield { rows: { outbox } }
  const recorded: Array<Recorded> = []
  for (const attempt of attempts) recorded.push(yield* settle(unit, attempt, unit.now))
  return recorded
})

function* settle(
  unit: UnitOfWork,
  { claim, random, result }: EndedAttempt,
  now: Instant.Instant,
): Decision<Recorded> {
  const item = unit.outbox.get(claim.id)
  if (!isSending(item) || item.leased_until !== claim.leased_until) return "lost"
  const ended = attempted(item, result, now, random)
  unit.outbox.put(ended)
  if (result.outcome === "delivered") yield* recordDelivered(unit, { ...item, notifier: claim.notifier }, now)
  else if (result.outcome === "unsent") followWithdrawal(unit, ended, now)
  else if (ended.state !== "discarded") followFailure(unit, ended, now)
  if (ended.rotas !== undefined) evaluateAfter(unit, ended, now)
  return ended.state === "failed" ? "given_up" : "stored"
}

/**
 * The next turn of a rota stands beside a receiver that refused for good, or whose firing stays in retry: an evaluation
 * writes its firing.
 */
const evaluateAfter = (unit: UnitOfWork, ended: OutboxRecord, now: Instant.Instant): void => {
  const { first_attempted_at = now, incident_id, state } = ended
  if (state !== "failed" && state !== "retry") return
  const incident = unit.incidents.get(incident_id)
  if (incident?.state !== "open") return
  const at = state === "failed" ? now : Instant.plus(first_attempted_at, LOST_AFTER)
  const next_evaluation_at = Instant.earliest([incident.next_evaluation_at, Instant.max(at, now)])
  unit.incidents.put({ ...incident, next_evaluation_at })
}

/** Discards a firing that was overtaken while it waited for its attempt, as for any that waits. */
const followWithdrawal = (unit: UnitOfWork, item: OutboxRecord, now: Instant.Instant): void => {
  const incident = unit.incidents.get(item.incident_id)
  if (incident?.resolved_at === undefined || item.event_type !== "firing") return
  const isFirst = !wasAttempted(item)
  if (!isFirst && !isAgentGone(incident)) return
  const because = isFirst ? "incident_resolved" : "agent_gone"
  const unsent = item.state === "pending" ? discarded(item, because, now) : item
  unit.outbox.put(unsent)
  discardUnheard(unit, unsent, now)
}

/**
 * After a failed attempt at a firing: discards the firing if its agent was deleted meanwhile, and
 * the resolved behind a firing that was refused or discarded. Needs the firing's incident.
 */
const followFailure = (unit: UnitOfWork, firing: OutboxRecord, now: Instant.Instant): void => {
  const incident = unit.incidents.get(firing.incident_id)
  if (incident === undefined || firing.event_type !== "firing") return
  if (firing.state === "retry") {
    if (!isAgentGone(incident)) return
    unit.outbox.put(discarded(firing, "agent_gone", now))
  }
  discardUnheard(unit, firing, now)
}

/**
 * Discards the resolved behind a firing that its receiver refused, unless another firing may have
 * arrived. Needs the incident's outbox items.
 */
export const discardUnheard = (unit: UnitOfWork, refused: OutboxRecord, now: Instant.Instant): void => {
  const items = unit.outbox.group(refused.incident_id).filter(({ receiver }) => receiver === refused.receiver)
  if (refused.event_type !== "firing" || items.some((item) => isFiringOrReplaced(item) && mayArrive(item)))
    return
  for (const item of items) {
    if (item.event_type !== "resolved" || item.state !== "pending") continue
    unit.outbox.put(discarded(item, "firing_refused", now))
  }
}

/** Whether the incident resolved because its last member's check or agent went. */
const isAgentGone = ({ resolved_by }: IncidentRecord): boolean => resolved_by === "agent_gone"

/** A mail that a delivery report returns counts for so long. */
const BOUNCES_WITHIN = Duration.days(7)

/** A delivery report about the mail of a notification. */
export interface Returned {
  readonly notification: Pick<OutboxRecord, "id" | "incident_id">
  readonly status: string
  /** Whether others may have got the mail. */
  readonly hasOthers: boolean
}

/** Notes that a mail which a server accepted was not delivered (docs/rules.md#mails). */
export const recordBounce = commandOf(function* (
  unit,
  { hasOthers, notification: { id, incident_id }, status }: Returned,
): Decision<void> {
  const { now } = unit
  yield* load(unit, { incidents: [incident_id] })
  yield* load(unit, { rows: { outbox: [id] } })
  const item = unit.outbox.get(id)
  if (item?.state !== "sent" || item.updated_at <= Instant.minus(now, BOUNCES_WITHIN)) return
  const noted = { ...item, last_error: `${BOUNCED}${status}`, updated_at: now }
  if (hasOthers) return unit.outbox.put(noted)
  const failed = { ...noted, state: move(OutboxTransitions, item.state, "bounced") }
  unit.outbox.put(failed)
  followFailure(unit, failed, now)
  if (failed.rotas !== undefined) evaluateAfter(unit, failed, now)
})
