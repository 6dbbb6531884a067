import { Duration } from "effect"
import type { CheckRef } from "../model/CheckRecord.ts"
import * as Instant from "@tocsin/contract/Instant"
import { move } from "@tocsin/contract/TransitionTable"
import type { UnitOfWork } from "../engine/unitOfWork/UnitOfWork.ts"
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
import { forgetTerms } from "../overdue/changeExpectation.ts"
import { dueTime, evaluationAfter } from "../overdue/dueTime.ts"
import { lastOutput, type Logged, type Report, type Started } from "./Report.ts"

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
  const text = report.output === undefined ? log : `${log}\n${report.output}`
  return { ...report, duration_ms, ...lastOutput(text) }
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
