import { Duration } from "effect"
import * as Instant from "@tocsin/contract/formats/Instant"
import type { ShownKind } from "@tocsin/contract/integrations/Integrations"
import { lastOutput } from "@tocsin/contract/formats/outputText"
import { move } from "@tocsin/contract/formats/TransitionTable"
import type { UnitOfWork } from "../../kernel/unitOfWork/UnitOfWork.ts"
import type { CheckRef } from "../../kernel/model/CheckRef.ts"
import {
  ExpectationTransitions,
  newExpectation,
  stateOf,
  type Terms,
} from "../../heart/model/ExpectationRecord.ts"
import type { JobRunRecord, Start } from "./JobRunRecord.ts"
import { inTime } from "../../heart/overdue/changeExpectation.ts"
import { severityOfJob } from "./expected.ts"
import { GRACE_OF_RUN } from "../../heart/overdue/dueTime.ts"
import type { Logged, Report, Started } from "./Report.ts"

const MOST_STARTS = 10
const KEPT_FOR = Duration.days(31)
const MICROS_PER_MILLI = 1_000

/** The terms of a check of which nothing but the ends of its runs is expected. */
const untilEnded = (kind?: ShownKind): Terms => ({
  after_millis: GRACE_OF_RUN,
  severity: (kind && severityOfJob(kind)) ?? "unknown",
  notifications_enabled: true,
})

/** Makes the expectation of a check follow its runs that have not ended. */
const awaitEnds = (
  unit: UnitOfWork,
  ref: CheckRef,
  [first]: ReadonlyArray<Start>,
  kind?: ShownKind,
): void => {
  const before = unit.expectations.get(ref)
  const running_since = first && Instant.fromMicros(BigInt(first.at))
  if (before?.running_since === running_since) return
  if (running_since === undefined && before?.origin === "run") {
    move(ExpectationTransitions, stateOf(before), "ended")
    return unit.expectations.delete(before)
  }
  if (running_since !== undefined) move(ExpectationTransitions, stateOf(before), "started")
  const expected =
    before ?? newExpectation(ref, { origin: "run", terms: untilEnded(kind), expected_from: unit.now })
  const expected_from = expected.origin === "run" ? (running_since ?? unit.now) : expected.expected_from
  const reportedAt = unit.checks.get(ref)?.received_at
  unit.expectations.put(inTime({ ...expected, expected_from, running_since }, reportedAt))
}

/** Remembers the start of a run, or a log, of a check. Needs the check, its expectation and its runs. */
export const remember = (
  unit: UnitOfWork,
  ref: CheckRef,
  report: Started | Logged,
  kind: ShownKind,
): void => {
  const { agent_id, check_id, registration_id } = ref
  const before = unit.of("job_run").get(ref)
  const oldest = Number(Instant.minus(unit.now, KEPT_FOR))
  let starts = (before?.starts ?? []).filter(({ at }) => at > oldest)
  let log = before?.log
  if (report.signal === "start") {
    const others = starts.filter(({ rid }) => rid !== report.rid)
    starts = [...others, { rid: report.rid, at: Number(unit.now) }].slice(-MOST_STARTS)
  } else {
    const { output = "" } = lastOutput(log === undefined ? report.text : `${log}\n${report.text}`)
    log = output === "" ? undefined : output
  }
  unit.of("job_run").put({ agent_id, check_id, registration_id, starts, log })
  awaitEnds(unit, ref, starts, kind)
}

/** Ends all runs of a check, and forgets its log. Needs the check, its expectation and its runs. */
export const endRuns = (unit: UnitOfWork, ref: CheckRef): void => {
  unit.of("job_run").delete(ref)
  awaitEnds(unit, ref, [])
}

/** The end of a run: its result with its duration and what was logged before. */
export const withRun = (run: JobRunRecord | undefined, report: Report, now: Instant.Instant): Report => {
  if (run === undefined) return report
  const { log, starts } = run
  const start = starts.find(({ rid }) => rid === report.rid)
  const duration_ms =
    start === undefined || report.duration_ms > 0
      ? report.duration_ms
      : Math.max(0, Math.round((Number(now) - start.at) / MICROS_PER_MILLI))
  if (log === undefined) return { ...report, duration_ms }
  const { text = "", ...cut } = report.job ?? {}
  return { ...report, duration_ms, ...lastOutput(text === "" ? log : `${log}\n${text}`, cut) }
}

/** Forgets a run that has ended, and the log. Needs the check, its expectation and its runs, after its result. */
export const forgetRun = (unit: UnitOfWork, ref: CheckRef, { rid }: Report, kind: ShownKind): void => {
  const run = unit.of("job_run").get(ref)
  if (run === undefined) return
  const starts = run.starts.filter((start) => start.rid !== rid)
  if (starts.length === 0) unit.of("job_run").delete(ref)
  else unit.of("job_run").put({ ...run, starts, log: undefined })
  awaitEnds(unit, ref, starts, kind)
}
