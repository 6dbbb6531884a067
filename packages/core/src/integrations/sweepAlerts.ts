import { Duration } from "effect"
import * as Instant from "@tocsin/contract/Instant"
import { move } from "@tocsin/contract/TransitionTable"
import { applyResults } from "../checks/applyBatch.ts"
import { removeFound } from "../checks/checkActions.ts"
import { type Decision, loneCommandOf, type LoneDecision } from "../unitOfWork/Decision.ts"
import { load, loadRow } from "../unitOfWork/load.ts"
import type { UnitOfWork } from "../unitOfWork/UnitOfWork.ts"
import { Incidents } from "../incidents/Incidents.ts"
import type { AgentRecord } from "../model/AgentRecord.ts"
import { type CheckRecord, checksOf } from "../model/CheckRecord.ts"
import { hasTerms, WHILE_RUNNING, type WithTerms } from "../model/ExpectationRecord.ts"
import {
  alertStateOf,
  type IntegrationRecord,
  NO_LONGER_SENT,
  ReportedAlertTransitions,
} from "../model/IntegrationRecord.ts"
import { dueTime, evaluationAfter, judgeExpectation } from "../overdue/dueTime.ts"
import { reachableFrom } from "../liveness/agentStatus.ts"
import { type Contact, evaluateExpectations, type EvaluateInput } from "../overdue/evaluateExpectations.ts"
import { becomeOverdue } from "../overdue/changeExpectation.ts"
import { resultOf } from "./alerts.ts"
import { forgetAfter, heardSince, resendOf, silentFrom } from "./sources.ts"
import { forgetInTime } from "./expected.ts"
import { eventOf, NOTHING_EXPECTED } from "./Report.ts"

/** How long after the end of its lease an alert may still arrive. */
const LATE = Duration.minutes(1)
/** For how many periods of `resend` a source must be heard without an alert. */
const PERIODS = 3

/** The input of an evaluation of alerts, besides their rows. */
interface SweepInput extends EvaluateInput {
  readonly sha256: (text: string) => string
}

type AlertVerdict =
  | { readonly verdict: "lapsed" | "forgotten" }
  | { readonly verdict: "silent"; readonly due: Instant.Instant }
  | { readonly verdict: "later"; readonly at: Instant.Instant }

/** The finding of an evaluation about an alert (docs/rules.md#alerts), in the words of its state table. */
const judgeAlert = (
  {
    check,
    dueAt,
    expectation,
    integration,
  }: {
    readonly integration: Pick<IntegrationRecord, "options" | "sources">
    readonly expectation: WithTerms
    readonly check: Pick<CheckRecord, "overdue_incident_id" | "received_at" | "status">
    /** When it is due again, counting outages of the service and of its agent's contact. */
    readonly dueAt: Instant.Instant
  },
  now: Instant.Instant,
): AlertVerdict => {
  const { options, sources } = integration
  const { received_at, status } = check
  if (status === "ok") {
    const at = Instant.plus(received_at, forgetAfter(options))
    return at <= now ? { verdict: "forgotten" } : { verdict: "later", at }
  }
  const resend = resendOf(options)
  const { lease_millis, source } = expectation.terms
  const again = Instant.plus(now, resend)
  if (lease_millis === undefined) return { verdict: "later", at: Instant.plus(now, forgetAfter(options)) }
  const heard = sources.find((each) => each.source === source)
  const isEnding = options.lapse !== "never"
  const since = isEnding ? heardSince(heard, resend, now) : undefined
  const ended = Instant.plus(Instant.plus(received_at, Duration.millis(lease_millis)), LATE)
  const lapsesAt =
    since === undefined ? undefined : Instant.plus(Instant.max(ended, since), Duration.times(resend, PERIODS))
  if (lapsesAt !== undefined && lapsesAt <= now) return { verdict: "lapsed" }
  const next = lapsesAt ?? again
  if (check.overdue_incident_id !== undefined) return { verdict: "later", at: Instant.min(next, again) }
  const silentAt = isEnding && heard !== undefined ? Instant.max(dueAt, silentFrom(heard, resend)) : dueAt
  return silentAt <= now
    ? { verdict: "silent", due: dueAt }
    : { verdict: "later", at: Instant.min(next, silentAt) }
}

/** When an alert is due again. */
const dueOf = (
  { outageEnd, rules }: SweepInput,
  {
    agent,
    check,
    expectation,
  }: { readonly agent: AgentRecord; readonly check: CheckRecord; readonly expectation: WithTerms },
  now: Instant.Instant,
): Instant.Instant => {
  const { staleAfter } = rules
  const facts = { expectation, agent: seenNow(agent, now, staleAfter), check, outageEnd, staleAfter }
  const judged = judgeExpectation(facts, now)
  return judged.verdict === "in_time" ? judged.earliest : dueTime(expectation, check.received_at)
}

/** The agent of an integration is as alive as the service, which evaluates it now; its row says so less often. */
const seenNow = (agent: AgentRecord, now: Instant.Instant, staleAfter: Duration.Duration): Contact => ({
  last_seen_at: now,
  reachable_from: reachableFrom(agent, now, staleAfter),
})

function* findContact(
  unit: UnitOfWork,
  agent: AgentRecord,
  now: Instant.Instant,
  staleAfter: Duration.Duration,
): Decision<Contact> {
  yield* load(unit, { rows: { integration: [agent.agent_id] } })
  const isIntegration = unit.of("integration").get(agent.agent_id) !== undefined
  return isIntegration ? seenNow(agent, now, staleAfter) : agent
}

/** Evaluates expectations of one agent that may be due, those of alerts included. */
export const evaluateReported = loneCommandOf(function* (unit, now, input: SweepInput): LoneDecision<void> {
  yield* evaluateExpectations(input, findContact)(unit, now)
  const agent = unit.agents.get(input.agentId)
  if (agent === undefined) return
  for (const ref of checksOf(agent, input.checkIds)) {
    const expectation = unit.expectations.get(ref)
    if (!hasTerms(expectation) || expectation.terms.source === undefined) continue
    const { next_evaluation_at: at } = expectation
    if (at === undefined || at > now) continue
    const integration = yield* loadRow(unit, "integration", agent.agent_id)
    const check = unit.checks.get(ref)
    if (integration === undefined || check === undefined) {
      // Both go together: its agent is being deleted.
      unit.expectations.put({ ...expectation, next_evaluation_at: Instant.plus(now, Duration.days(1)) })
      continue
    }
    const dueAt = dueOf(input, { agent, check, expectation }, now)
    const judged = judgeAlert({ integration, expectation, check, dueAt }, now)
    yield* follow(unit, { ...input, integration, now }, { check, expectation }, judged)
  }
})

interface Present extends SweepInput {
  readonly integration: IntegrationRecord
  readonly now: Instant.Instant
}

function* follow(
  unit: UnitOfWork,
  present: Present,
  { check, expectation }: { readonly check: CheckRecord; readonly expectation: WithTerms },
  judged: AlertVerdict,
): Decision<void> {
  const { integration, now } = present
  const agent = unit.agents.get(check.agent_id)
  if (agent === undefined) return
  const incidents = new Incidents(unit, now, present.incidents)
  const state = alertStateOf(check)
  switch (judged.verdict) {
    case "later":
      unit.expectations.put({ ...expectation, next_evaluation_at: evaluationAfter(judged.at) })
      return
    case "forgotten":
      if (state !== "lapsed" && state !== "resolved") return
      move(ReportedAlertTransitions, state, "forgotten")
      return yield* removeFound(unit, incidents, { agent, check, expectation })
    case "silent": {
      if (state !== "firing") return
      move(ReportedAlertTransitions, state, "source_fell_silent")
      yield* becomeOverdue(unit, incidents, expectation, judged.due)
      const overdue = unit.expectations.get(expectation)
      if (overdue === undefined) return
      const next_evaluation_at = Instant.plus(now, resendOf(integration.options))
      unit.expectations.put({ ...overdue, next_evaluation_at })
      return
    }
    case "lapsed":
      if (state !== "firing" && state !== "as_last_heard") return
      move(ReportedAlertTransitions, state, "not_sent")
      return yield* lapse(unit, present, agent, check)
  }
}

/** An alert that its source no longer sends becomes ok, as by a result. */
function* lapse(
  unit: UnitOfWork,
  { incidents, integration, now, rules, sha256 }: Present,
  agent: AgentRecord,
  check: CheckRecord,
): Decision<void> {
  const { agent_id, check_id } = check
  const event = eventOf(
    resultOf(check_id, "ok", NO_LONGER_SENT, NOTHING_EXPECTED),
    Instant.max(now, check.last_observed_at),
  )
  const { staleAfter } = rules
  yield* applyResults(unit, now, agent, {
    incidents,
    sha256,
    staleAfter,
    request: { agent_id, events: [event] },
  })
  const expectation = unit.expectations.get(check)
  if (!hasTerms(expectation)) return
  const { source = "" } = expectation.terms
  unit.expectations.put({ ...expectation, terms: { ...WHILE_RUNNING, source } })
  forgetInTime(unit, check, integration.options, now)
  const lapsed = unit.checks.get(check)
  if (lapsed !== undefined) unit.checks.put({ ...lapsed, declaration: undefined })
}
