import { Duration, Result, SchemaParser } from "effect"
import { describeIssue } from "@tocsin/contract/describeIssue"
import { ExpectedCheck } from "@tocsin/contract/Expectations"
import * as Instant from "@tocsin/contract/Instant"
import type { IntegrationOptions } from "@tocsin/contract/Integrations"
import { lastOutput } from "@tocsin/contract/outputText"
import type { Decision } from "../unitOfWork/Decision.ts"
import { load } from "../unitOfWork/load.ts"
import type { UnitOfWork } from "../unitOfWork/UnitOfWork.ts"
import type { Incidents } from "../incidents/Incidents.ts"
import type { AgentRecord } from "../model/AgentRecord.ts"
import type { CheckRef } from "../model/CheckRecord.ts"
import {
  type ExpectationRecord,
  ExpectationTransitions,
  hasTerms,
  isWhileRunning,
  type Start,
  stateOf,
  type Terms,
  unexpected,
  WHILE_RUNNING,
} from "../model/ExpectationRecord.ts"
import { expectCheck, forgetTerms, withdrawExpectation } from "../overdue/changeExpectation.ts"
import { decideTerms, shortestAfter } from "../policy/decideTerms.ts"
import { resendOf } from "./sources.ts"
import {
  type AnyReport,
  checkIdOf,
  declare,
  type Logged,
  type Refusal,
  type Report,
  type Started,
} from "./Report.ts"
import { move } from "@tocsin/contract/TransitionTable"
import { dueTime, evaluationAfter } from "../overdue/dueTime.ts"

/** The place of the only check in a declaration, of which its sender has seen the parameters. */
const PLACE = /^checks\[0\]/u

const declaredTerms = (
  { check_id }: Pick<AnyReport, "check_id">,
  terms: Readonly<Record<string, string>>,
  staleAfter: Duration.Duration,
): Result.Result<Terms | undefined, Refusal> => {
  if (Object.keys(terms).length === 0) return Result.succeed(undefined)
  const invalid = (message: string): Refusal => ({ refused: "invalid", message })
  const declared = SchemaParser.decodeUnknownResult(ExpectedCheck)({ check_id, ...terms })
  if (Result.isFailure(declared))
    return Result.fail(invalid(describeIssue(declared.failure, "the parameters")))
  const decided = decideTerms({ checks: [declared.success], complete: false }, staleAfter)
  return Result.mapBoth(decided, {
    onFailure: ({ message }) => invalid(message.replace(PLACE, "parameters")),
    onSuccess: ([check]) => check?.terms,
  })
}

/** Terms by which a check is overdue after a time without a report, and no sooner than every check may be. */
const within = (millis: number, severity: Terms["severity"], staleAfter: Duration.Duration): Terms => ({
  after_millis: Math.max(millis, Duration.toMillis(shortestAfter(staleAfter))),
  severity,
  notifications_enabled: true,
})

const watchdogTerms = (options: IntegrationOptions, staleAfter: Duration.Duration): Terms =>
  within(Duration.toMillis(resendOf(options)), "critical", staleAfter)

/** The terms of an alert that its source repeats within its lease. */
export const leaseTerms = (lease_millis: number, staleAfter: Duration.Duration): Terms =>
  within(lease_millis, "unknown", staleAfter)

/** The terms that a report declares, if any, or why they are none. */
export const expectedTerms = (
  report: AnyReport,
  options: IntegrationOptions,
  staleAfter: Duration.Duration,
): Result.Result<Terms | undefined, Refusal> => {
  const { expects } = report
  switch (expects.by) {
    case "terms":
      return declaredTerms(report, expects.terms, staleAfter)
    case "source":
      return Result.succeed(undefined)
    case "watchdog":
      return Result.succeed(watchdogTerms(options, staleAfter))
  }
}

const UNDECLARED = "-"

/** Stands for the labels and terms of a report. */
export const declarationOf = (report: AnyReport, sha256: (text: string) => string): string => {
  if (report.signal === "result" && report.declaration !== undefined) return report.declaration
  const { expects } = report
  const labels = "labels" in report ? report.labels : undefined
  const isEmpty = labels === undefined && expects.by === "terms" && Object.keys(expects.terms).length === 0
  return isEmpty ? UNDECLARED : declare(labels, expects, sha256)
}

export interface WatchdogRules {
  readonly sha256: (text: string) => string
  readonly staleAfter: Duration.Duration
}

/**
 * Expects the alert that always fires by other options, if it has ever reported, and no longer the one before.
 * Needs the agent.
 */
export function* changeWatchdog(
  unit: UnitOfWork,
  incidents: Incidents,
  {
    agent: { agent_id, registration_id },
    now,
    options,
  }: {
    readonly agent: Pick<AgentRecord, "agent_id" | "registration_id">
    readonly options: IntegrationOptions
    readonly now: Instant.Instant
  },
  before: IntegrationOptions,
  { sha256, staleAfter }: WatchdogRules,
): Decision<void> {
  const [ref, former] = [options, before].map(({ watchdog }): CheckRef | undefined =>
    watchdog === undefined ? undefined : { agent_id, registration_id, check_id: checkIdOf(watchdog, sha256) },
  )
  const refs = [ref, former].filter((each) => each !== undefined)
  if (refs.length === 0) return
  const check_ids = refs.map(({ check_id }) => check_id)
  yield* load(unit, { checks: { agent_id, check_ids }, rows: { expectation: refs } })
  if (former !== undefined && former.check_id !== ref?.check_id) {
    const expectation = unit.expectations.get(former)
    if (hasTerms(expectation)) yield* withdrawExpectation(unit, incidents, expectation)
  }
  if (ref === undefined || unit.checks.get(ref) === undefined) return
  const terms = watchdogTerms(options, staleAfter)
  yield* expectCheck(unit, incidents, { ref, origin: "agent", terms, now })
}

const MOST_STARTS = 10
const KEPT_FOR = Duration.days(31)
const MICROS_PER_MILLI = 1_000

/** The terms with their runs. An absent field is no field: terms are compared and stored as JSON. */
const withRuns = (
  { log: _log, starts: _starts, ...terms }: Terms,
  starts: ReadonlyArray<Start>,
  log: string | undefined,
): Terms => ({
  ...terms,
  ...(starts.length > 0 && { starts }),
  ...(log !== undefined && log !== "" && { log }),
})

/** Remembers the start of a run, or a log, of a check. Needs the check and its expectation. */
export const remember = (
  unit: UnitOfWork,
  ref: CheckRef,
  report: Started | Logged,
  now: Instant.Instant,
): void => {
  const before = unit.expectations.get(ref)
  const terms = before?.terms ?? WHILE_RUNNING
  const oldest = Number(Instant.minus(now, KEPT_FOR))
  const others = (terms.starts ?? []).filter(({ at }) => at > oldest)
  const starts =
    report.signal === "start"
      ? [...others.filter(({ rid }) => rid !== report.rid), { rid: report.rid, at: Number(now) }]
      : others
  const log =
    report.signal === "log"
      ? lastOutput([terms.log, report.text].filter((text) => text !== undefined).join("\n")).output
      : terms.log
  const expected = {
    ...(before ?? unexpected(ref, now)),
    ...(hasTerms(before) ? undefined : ({ origin: "agent", expected_from: now } as const)),
    terms: withRuns(terms, starts.slice(-MOST_STARTS), log),
  }
  move(ExpectationTransitions, before === undefined ? "absent" : stateOf(before), "started")
  const due = dueTime(expected, unit.checks.get(ref)?.received_at)
  const isOverdue = expected.incident_id !== undefined
  unit.expectations.put({ ...expected, next_evaluation_at: isOverdue ? undefined : evaluationAfter(due) })
}

/** The end of a run: its result with its duration and what was logged before. */
export const withRun = (
  expectation: ExpectationRecord | undefined,
  report: Report,
  now: Instant.Instant,
): Report => {
  const { log, starts = [] } = expectation?.terms ?? {}
  const start = starts.find(({ rid }) => rid === report.rid)
  const duration_ms =
    start === undefined || report.duration_ms > 0
      ? report.duration_ms
      : Math.max(0, Math.round((Number(now) - start.at) / MICROS_PER_MILLI))
  if (log === undefined) return { ...report, duration_ms }
  const { text = "", end } = report.job ?? {}
  return { ...report, duration_ms, ...lastOutput(text === "" ? log : `${log}\n${text}`, { end }) }
}

/** Forgets a run that has ended. Needs the check and its expectation, after its result. */
export const forgetRun = (unit: UnitOfWork, ref: CheckRef, { rid }: Report): void => {
  const expectation = unit.expectations.get(ref)
  if (!hasTerms(expectation)) return
  const { terms } = expectation
  if (terms.starts === undefined && terms.log === undefined) return
  const left = withRuns(
    terms,
    (terms.starts ?? []).filter((start) => start.rid !== rid),
    undefined,
  )
  const isOver = isWhileRunning(left) && left.starts === undefined
  if (!isOver) {
    const due = dueTime({ ...expectation, terms: left }, unit.checks.get(ref)?.received_at)
    unit.expectations.put({ ...expectation, terms: left, next_evaluation_at: evaluationAfter(due) })
    return
  }
  move(ExpectationTransitions, stateOf(expectation), "ended")
  forgetTerms(unit, expectation)
}
