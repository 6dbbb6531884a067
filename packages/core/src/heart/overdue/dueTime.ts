import { Duration, Result } from "effect"
import * as Instant from "@tocsin/contract/formats/Instant"
import { lastRunOf, runAfterInstant, type Schedule, parseSchedule } from "../policy/Schedule.ts"
import type { Terms, ExpectationRecord } from "../model/ExpectationRecord.ts"
import type { AgentRecord } from "../model/AgentRecord.ts"
import type { CheckRecord } from "../model/CheckRecord.ts"

const EARLY_PART = 10n
const LONGEST_EARLY = Duration.minutes(5)

/**
 * Looks come this much after the due time, so that a result that arrives as regularly as the one
 * before is found, and the next evaluation is a whole `after` later. It is a part of the 15 s in which an
 * overdue check joins its incident.
 */
const LOOK_DELAY = Duration.seconds(5)

/** When to evaluate a check that cannot be late before `earliest`. */
export const evaluationAfter = (earliest: Instant.Instant): Instant.Instant =>
  Instant.plus(earliest, LOOK_DELAY)

/**
 * The occurrence that a check is to meet next: the first since it is expected and since its last result,
 * or the one that follows, where that result was early for the first.
 */
const occurrenceToMeet = (
  schedule: Schedule,
  since: Instant.Instant,
  reportedAt: Instant.Instant | undefined,
): Instant.Instant => {
  if (reportedAt === undefined) return runAfterInstant(schedule, since)
  const first = runAfterInstant(schedule, Instant.max(since, reportedAt))
  if (first > Instant.plus(reportedAt, LONGEST_EARLY)) return first
  const following = runAfterInstant(schedule, first)
  const isEarlyForIt =
    first - reportedAt <= (following - first) / EARLY_PART && runAfterInstant(schedule, reportedAt) === first
  return isEarlyForIt ? following : first
}

/**
 * When a check is due that last reported at `reportedAt`, if ever: after that moment its silence
 * counts (docs/rules.md#expectations).
 */
export const dueTime = (expectation: Timed, reportedAt: Instant.Instant | undefined): Instant.Instant =>
  dueOf(expectation, reportedAt).due

/** The next that a check is to meet. */
export interface Due {
  readonly due: Instant.Instant
  /** How long the run may take that has begun and not ended, if it is that which is due. */
  readonly longest: Duration.Duration | undefined
}

/** The same, with what it is that is due. */
export const dueOf = (expectation: Timed, reportedAt: Instant.Instant | undefined): Due => {
  const due = dueOfTerms(expectation, reportedAt)
  const endDue = dueOfRun(expectation)
  return endDue === undefined || endDue > due
    ? { due, longest: undefined }
    : { due: endDue, longest: longestRun(expectation.terms) }
}

type Timed = Pick<ExpectationRecord, "expected_from" | "running_since" | "terms">

export const GRACE_OF_RUN = Duration.toMillis(Duration.hours(1))

/** How long a run may take before its end is late. */
const longestRun = ({ grace_millis = GRACE_OF_RUN }: Terms): Duration.Duration =>
  Duration.millis(grace_millis)

/** When the first run that has begun must have ended, if there is one. */
const dueOfRun = ({ running_since, terms }: Timed): Instant.Instant | undefined =>
  running_since && Instant.plus(running_since, longestRun(terms))

const dueOfTerms = (
  { expected_from, terms }: Timed,
  reportedAt: Instant.Instant | undefined,
): Instant.Instant => {
  const { after_millis, grace_millis = 0 } = terms
  const schedule = scheduleOfTerms(terms)
  if (schedule === undefined) {
    const from = reportedAt === undefined ? expected_from : Instant.max(expected_from, reportedAt)
    return Instant.plus(from, Duration.millis(after_millis))
  }
  const occurrence = occurrenceToMeet(schedule, expected_from, reportedAt)
  return Instant.plus(lastRunOf(schedule, occurrence), Duration.millis(grace_millis))
}

/** The schedule of terms with a cron expression. The terms were checked when they were declared. */
const scheduleOfTerms = ({ cron, tz }: Terms): Schedule | undefined =>
  cron === undefined || tz === undefined ? undefined : Result.getOrThrow(parseSchedule({ cron, tz }))

/**
 * The verdict of an evaluation. `waiting`: its agent has not been seen since the due time, but is not
 * stale yet, so that the next evaluation comes soon and nothing is written until then.
 */
export type Verdict =
  | ({ readonly verdict: "overdue" } & Due)
  | { readonly verdict: "in_time"; readonly earliest: Instant.Instant }
  | { readonly verdict: "waiting" }

/** Whether a check is late now, and the earliest time at which it may be if not (docs/rules.md#expectations). */
export const judgeExpectation = (
  {
    agent,
    check,
    expectation,
    outageEnd,
    staleAfter,
  }: {
    readonly expectation: ExpectationRecord
    readonly agent: Pick<AgentRecord, "last_seen_at" | "reachable_from">
    /** Absent if it never reported. */
    readonly check: Pick<CheckRecord, "received_at"> | undefined
    /** When the service's last outage ended, if there was one. */
    readonly outageEnd: Instant.Instant | undefined
    readonly staleAfter: Duration.Duration
  },
  now: Instant.Instant,
): Verdict => {
  const { terms } = expectation
  const { due, longest } = dueOf(expectation, check?.received_at)
  const after = longest ?? Duration.millis(terms.after_millis)
  const lasting = (since: Instant.Instant | undefined) =>
    since === undefined ? due : Instant.plus(since, after)
  const earliest = Instant.max(due, Instant.max(lasting(agent.reachable_from), lasting(outageEnd)))
  if (now < earliest) return { verdict: "in_time", earliest }
  if (agent.last_seen_at >= due) return { verdict: "overdue", due, longest }
  // The contact of a stale agent begins with its next heartbeat, and must then last.
  const isStale = agent.last_seen_at <= Instant.minus(now, staleAfter)
  return isStale ? { verdict: "in_time", earliest: Instant.plus(now, after) } : { verdict: "waiting" }
}
