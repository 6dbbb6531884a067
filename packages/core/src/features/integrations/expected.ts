import { Duration, Result, SchemaParser } from "effect"
import { describeIssue } from "@tocsin/contract/formats/describeIssue"
import { ExpectedCheck } from "@tocsin/contract/overdue/Expectations"
import type { IntegrationOptions, ShownKind } from "@tocsin/contract/integrations/Integrations"
import { type Decision, load } from "../../kernel/unitOfWork/Decision.ts"
import type { Incidents } from "../../heart/incidents/Incidents.ts"
import type { AgentRecord } from "../../heart/model/AgentRecord.ts"
import type { CheckRef } from "../../kernel/model/CheckRef.ts"
import { type Terms } from "../../heart/model/ExpectationRecord.ts"
import { expectCheck, withdrawExpectation } from "../../heart/overdue/changeExpectation.ts"
import { decideTerms, shortestAfter } from "../../heart/policy/decideTerms.ts"
import { watchdogExpects } from "./sources.ts"
import { type AnyReport, checkIdOf, declare, type Expects, invalid, type Refusal } from "./Report.ts"

/** The place of the only check in a declaration, of which its sender has seen the parameters. */
const PLACE = /^checks\[0\]/u

/** The senders that are jobs: a late one of theirs did not run (docs/rules.md#late-checks). */
const OF_JOBS: ReadonlySet<ShownKind> = new Set(["ping", "push"])

/** The severity of a late check of such an integration that states none; absent where its terms decide. */
export const severityOfJob = (kind: ShownKind): "critical" | undefined =>
  OF_JOBS.has(kind) ? "critical" : undefined

interface Expecting {
  readonly kind: ShownKind
  readonly staleAfter: Duration.Duration
}

/** The terms that parameters or options declare, if any, or why they are none. */
export const declaredTerms = (
  { check_id }: Pick<AnyReport, "check_id">,
  terms: Readonly<Record<string, string>>,
  { kind, staleAfter }: Expecting,
): Result.Result<Terms | undefined, Refusal> => {
  if (Object.keys(terms).length === 0) return Result.succeed(undefined)
  const declared = SchemaParser.decodeUnknownResult(ExpectedCheck)({ check_id, ...terms })
  if (Result.isFailure(declared))
    return Result.fail(invalid(describeIssue(declared.failure, "the parameters")))
  const decided = decideTerms(
    { checks: [declared.success], complete: false },
    staleAfter,
    severityOfJob(kind),
  )
  return Result.mapBoth(decided, {
    onFailure: ({ message }) => invalid(message.replace(PLACE, "parameters")),
    onSuccess: ([check]) => check?.terms,
  })
}

/** Terms by which a check is late after a time without a report, and no sooner than every check may be. */
const within = (
  { grace_millis, incident, millis, severity }: Omit<Extract<Expects, { by: "within" }>, "by">,
  staleAfter: Duration.Duration,
): Terms => ({
  severity: severity ?? "unknown",
  ...(severity !== undefined && { is_severity_stated: true }),
  ...(incident !== undefined && { incident }),
  ...(grace_millis !== undefined && { grace_millis }),
  after_millis: Math.max(millis, Duration.toMillis(shortestAfter(staleAfter))),
  notifications_enabled: true,
})

/** The terms of an alert that its source repeats within its lease. */
export const leaseTerms = (lease_millis: number, staleAfter: Duration.Duration): Terms =>
  within({ millis: lease_millis }, staleAfter)

/** The terms that a report declares, if any, or why they are none. */
export const expectedTerms = (
  report: AnyReport,
  expecting: Expecting,
): Result.Result<Terms | undefined, Refusal> => {
  const { expects } = report
  switch (expects.by) {
    case "terms":
      return declaredTerms(report, expects.terms, expecting)
    case "source":
      return Result.succeed(undefined)
    case "within":
      return Result.succeed(within(expects, expecting.staleAfter))
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

/**
 * Expects the alert that always fires by other options, if it has ever reported, and no longer the one before.
 * Needs the agent.
 */
export function* changeWatchdog(
  incidents: Incidents,
  {
    agent: { agent_id, registration_id },
    options,
  }: {
    readonly agent: Pick<AgentRecord, "agent_id" | "registration_id">
    readonly options: IntegrationOptions
  },
  before: IntegrationOptions,
): Decision<void> {
  const {
    options: { sha256, staleAfter },
    unit,
  } = incidents
  const [ref, former] = [options, before].map(({ watchdog }): CheckRef | undefined =>
    watchdog === undefined ? undefined : { agent_id, registration_id, check_id: checkIdOf(watchdog, sha256) },
  )
  const refs = [ref, former].filter((each) => each !== undefined)
  if (refs.length === 0) return
  const check_ids = refs.map(({ check_id }) => check_id)
  yield* load(unit, { checks: { agent_id, check_ids }, rows: { expectation: refs } })
  if (former !== undefined && former.check_id !== ref?.check_id) {
    const expectation = unit.expectations.get(former)
    if (expectation !== undefined) yield* withdrawExpectation(incidents, expectation)
  }
  if (ref === undefined || unit.checks.get(ref) === undefined) return
  const terms = within(watchdogExpects(options), staleAfter)
  yield* expectCheck(incidents, { ref, origin: "agent", terms })
}
