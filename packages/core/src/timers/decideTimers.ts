import { Duration } from "effect"
import * as Instant from "@tocsin/contract/Instant"
import type { FiringCause, NotifierName } from "@tocsin/contract/Status"
import { canBeHeld } from "../holds/heldItems.ts"
import { isUnended, type OutboxRecord, wasAttempted } from "../model/OutboxRecord.ts"
import type { Routing } from "../policy/routing.ts"
import type { TimerTransitions } from "../model/TimerTransitions.ts"

/** What decides which timers of an open incident are due. */
export interface TimerFacts {
  readonly opened_at: Instant.Instant
  /** Its firings that are not discarded. */
  readonly firings: ReadonlyArray<OutboxRecord>
  /** The routes of its worst loud member; absent if it has none. */
  readonly routing: Pick<Routing, "delays" | "remind"> | undefined
  /** Whether its acknowledgement has run out, and that is not dealt with yet. */
  readonly hasAckRunOut: boolean
  /** Until when it is acknowledged or covered; absent if it is neither. */
  readonly heldUntil: Instant.Instant | undefined
}

/** A firing that a timer asks for. */
export interface TimedFiring {
  readonly receiver: NotifierName
  readonly cause: (typeof CAUSE)[Timer["trigger"]]
}

/** What is due now, and when to look again; absent if no timer runs. */
export interface Timers {
  readonly firings: ReadonlyArray<TimedFiring>
  readonly nextEvaluationAt: Instant.Instant | undefined
}

/** One move of the table at a time; a pair that the table lacks does not compile. */
type TimerOf<Row> = Row extends { readonly from: infer From; readonly trigger: infer Trigger }
  ? { readonly from: From; readonly trigger: Trigger; readonly at: Instant.Instant }
  : never
type Timer = TimerOf<(typeof TimerTransitions)[number]>

const CAUSE = {
  step_came: "escalation",
  reminder_due: "reminder",
  ack_ran_out: "ack_ran_out",
} as const satisfies Record<Timer["trigger"], FiringCause>

/** Decides on the timers of an incident (docs/rules.md#timers). */
export const decideTimers = (facts: TimerFacts, now: Instant.Instant): Timers => {
  const { routing, heldUntil } = facts
  const firings: Array<TimedFiring> = []
  const looks: Array<Instant.Instant> = heldUntil === undefined ? [] : [heldUntil]
  for (const [receiver, delay] of routing?.delays ?? []) {
    const known = knownBy(receiver, facts.firings)
    const timer = timerOf(facts, known, delay, now)
    if (timer !== undefined && timer.at <= now && mayFire(timer, facts)) {
      firings.push({ receiver, cause: CAUSE[timer.trigger] })
    } else if (timer !== undefined && timer.at > now) looks.push(timer.at)
    // The next attempt is not before now, so the reminder after it is not due before this.
    const isUnderWay = known.state === "under_way" || firings.at(-1)?.receiver === receiver
    if (isUnderWay && routing?.remind !== undefined) looks.push(Instant.plus(now, routing.remind))
  }
  return { firings, nextEvaluationAt: Instant.earliest(looks) }
}

/** A silence holds the firing after an acknowledgement like any other: it is written. */
const mayFire = ({ trigger }: Timer, { heldUntil }: TimerFacts): boolean =>
  trigger === "ack_ran_out" || heldUntil === undefined

/** What a receiver knows of the incident. */
type Known =
  | { readonly state: "not_notified" }
  | { readonly state: "under_way"; readonly isUntried: boolean }
  | { readonly state: "notified"; readonly lastAttemptAt: Instant.Instant }

const knownBy = (receiver: NotifierName, firings: ReadonlyArray<OutboxRecord>): Known => {
  const there = firings.filter((item) => item.receiver === receiver)
  const open = there.filter(isUnended)
  if (open.length > 0) return { state: "under_way", isUntried: open.every(canBeHeld) }
  // The last change of an item that ended is the end of its last attempt.
  const attempts = there.filter(wasAttempted).map((item) => item.updated_at)
  return attempts.length === 0
    ? { state: "not_notified" }
    : { state: "notified", lastAttemptAt: attempts.reduce(Instant.max) }
}

/** The next timer of a receiver, due or not. */
const timerOf = (
  { hasAckRunOut, opened_at, routing }: TimerFacts,
  known: Known,
  delay: Duration.Duration,
  now: Instant.Instant,
): Timer | undefined => {
  const turnAt = Instant.plus(opened_at, delay)
  if (hasAckRunOut && turnAt <= now && (known.state !== "under_way" || known.isUntried))
    return { from: known.state, trigger: "ack_ran_out", at: now }
  // An event notifies the first step.
  if (known.state === "not_notified")
    return Duration.isZero(delay) ? undefined : { from: known.state, trigger: "step_came", at: turnAt }
  if (known.state === "under_way" || routing?.remind === undefined) return undefined
  return {
    from: known.state,
    trigger: "reminder_due",
    at: Instant.plus(known.lastAttemptAt, routing.remind),
  }
}
