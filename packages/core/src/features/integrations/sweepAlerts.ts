import { Duration } from "effect"
import * as Instant from "@tocsin/contract/formats/Instant"
import { move } from "@tocsin/contract/formats/TransitionTable"
import { removeFound } from "../../heart/checks/checkActions.ts"
import type { Chore, ChoreServices } from "../../kernel/engine/commits/Chore.ts"
import { type Decision, load, loadRow, loneCommandOf } from "../../kernel/unitOfWork/Decision.ts"
import { SYSTEM } from "../../kernel/ports/CurrentOperator.ts"
import type { UnitOfWork } from "../../kernel/unitOfWork/UnitOfWork.ts"
import type { IncidentOptions } from "../../heart/incidents/incidentOptions.ts"
import { Incidents } from "../../heart/incidents/Incidents.ts"
import type { AgentRecord } from "../../heart/model/AgentRecord.ts"
import type { CheckRecord } from "../../heart/model/CheckRecord.ts"
import { checksOf } from "../../kernel/model/CheckRef.ts"
import type { ExpectationRecord } from "../../heart/model/ExpectationRecord.ts"
import type { IntegrationRecord } from "./IntegrationRecord.ts"
import {
  alertStateOf,
  NO_LONGER_SENT,
  noNewsFor,
  type ReportedAlertRecord,
  ReportedAlertTransitions,
} from "./ReportedAlertRecord.ts"
import { dueTime, evaluationAfter, judgeExpectation } from "../../heart/overdue/dueTime.ts"
import { type EvaluateInput, evaluationOfDue, seenNow } from "../../heart/overdue/evaluateExpectations.ts"
import { lateText } from "../../heart/overdue/expectationText.ts"
import { becomeOverdue } from "../../heart/overdue/overdueIncident.ts"
import { endCheck } from "./endCheck.ts"
import { isKnownKind, keepsExpected } from "./kinds.ts"
import { durationOf, heardSince, lapseOf, lookAfter, silentFrom } from "./sources.ts"

/** How long after the end of its lease an alert may still arrive. */
const LATE = Duration.minutes(1)
/** For how many periods of `resend` a source must be heard without an alert. */
const PERIODS = 3

type AlertVerdict =
  | { readonly verdict: "forgotten" | "no_news" | "not_sent" }
  | { readonly verdict: "source_fell_silent"; readonly due: Instant.Instant }
  | { readonly verdict: "later"; readonly at: Instant.Instant }

/** The finding of an evaluation about an alert (docs/rules.md#alerts), in the words of its state table. */
const judgeAlert = (
  {
    alert: { lease_millis, source },
    check,
    dueAt,
    integration,
    outageEnd,
  }: {
    readonly integration: Pick<IntegrationRecord, "kind" | "options" | "sources">
    readonly alert: Pick<ReportedAlertRecord, "lease_millis" | "source">
    readonly check: Pick<CheckRecord, "overdue_incident_id" | "received_at" | "status">
    /** When it is due again, counting outages of the service and of its agent's contact; absent if nothing expects it. */
    readonly dueAt: Instant.Instant | undefined
    /** When the service's last outage ended: no news could come before. */
    readonly outageEnd: Instant.Instant | undefined
  },
  now: Instant.Instant,
): AlertVerdict => {
  const { kind, options, sources } = integration
  if (!isKnownKind(kind)) return { verdict: "later", at: Instant.plus(now, lookAfter(options)) }
  const { received_at, status } = check
  const forgetAfter = durationOf(options, "forget_after")
  if (status === "ok") {
    const at = Instant.plus(received_at, forgetAfter)
    if (at > now) return { verdict: "later", at }
    return dueAt !== undefined && keepsExpected(kind)
      ? { verdict: "later", at: Instant.plus(now, forgetAfter) }
      : { verdict: "forgotten" }
  }
  const resend = durationOf(options, "resend")
  const again = Instant.plus(now, resend)
  if (lease_millis === undefined) {
    const lapse = lapseOf(options)
    const since = Instant.max(received_at, outageEnd ?? received_at)
    if (lapse !== undefined && Instant.plus(since, lapse) <= now) return { verdict: "no_news" }
    const ends = lapse === undefined ? [] : [Instant.plus(since, lapse)]
    return { verdict: "later", at: ends.reduce(Instant.min, Instant.plus(now, lookAfter(options))) }
  }
  const heard = sources.find((each) => each.source === source)
  const isEnding = options.lapse !== "never"
  const since = isEnding ? heardSince(heard, resend, now) : undefined
  const ended = Instant.plus(Instant.plus(received_at, Duration.millis(lease_millis)), LATE)
  const lapsesAt =
    since === undefined ? undefined : Instant.plus(Instant.max(ended, since), Duration.times(resend, PERIODS))
  if (lapsesAt !== undefined && lapsesAt <= now) return { verdict: "not_sent" }
  const next = lapsesAt ?? again
  if (check.overdue_incident_id !== undefined || dueAt === undefined)
    return { verdict: "later", at: Instant.min(next, again) }
  const silentAt = isEnding && heard !== undefined ? Instant.max(dueAt, silentFrom(heard, resend)) : dueAt
  return silentAt <= now
    ? { verdict: "source_fell_silent", due: silentAt }
    : { verdict: "later", at: Instant.min(next, silentAt) }
}

/** When an alert is due again. */
const dueOf = (
  { incidents: { staleAfter }, outageEnd }: EvaluateInput,
  { agent, check, expectation }: Found & { readonly expectation: ExpectationRecord },
  now: Instant.Instant,
): Instant.Instant => {
  const facts = { expectation, agent: seenNow(agent, now, staleAfter), check, outageEnd, staleAfter }
  const judged = judgeExpectation(facts, now)
  return judged.verdict === "in_time" ? judged.earliest : dueTime(expectation, check.received_at)
}

interface Found {
  readonly agent: AgentRecord
  readonly check: CheckRecord
  readonly alert: ReportedAlertRecord
  readonly expectation: ExpectationRecord | undefined
}

/** Evaluates alerts of one agent that are due (docs/rules.md#alerts). Safe with several replicas. */
const evaluateAlerts = loneCommandOf(function* (unit, input: EvaluateInput) {
  const { now } = unit
  const { agentId: agent_id, checkIds: check_ids } = input
  yield* load(unit, { agents: [agent_id], checks: { agent_id, check_ids } })
  const agent = unit.agents.get(agent_id)
  if (agent === undefined) return
  const refs = checksOf(agent, check_ids)
  yield* load(unit, { rows: { expectation: refs, reported_alert: refs } })
  const integration = yield* loadRow(unit, "integration", agent_id)
  for (const ref of refs) {
    const alert = unit.of("reported_alert").get(ref)
    if (alert === undefined || alert.next_evaluation_at > now) continue
    const check = unit.checks.get(ref)
    if (integration === undefined || check === undefined) {
      // Both go together: its agent is being deleted.
      unit.of("reported_alert").put({ ...alert, next_evaluation_at: Instant.plus(now, Duration.days(1)) })
      continue
    }
    const expectation = unit.expectations.get(ref)
    const found = { agent: unit.agents.get(agent_id) ?? agent, check, alert, expectation }
    const dueAt = expectation !== undefined ? dueOf(input, { ...found, expectation }, now) : undefined
    const judged = judgeAlert({ integration, alert, check, dueAt, outageEnd: input.outageEnd }, now)
    yield* follow(unit, { ...input, integration }, found, judged)
  }
})

/** Finds alerts that have lapsed, whose source is silent, or that may be forgotten. */
export const alertsChore = (services: ChoreServices, incidents: IncidentOptions): Chore =>
  evaluationOfDue(
    services,
    { name: "looking at reported alerts", table: "reported_alert", incidents },
    evaluateAlerts,
  )

interface Present extends EvaluateInput {
  readonly integration: IntegrationRecord
}

function* follow(unit: UnitOfWork, present: Present, found: Found, judged: AlertVerdict): Decision<void> {
  const { integration } = present
  const { agent, alert, check, expectation } = found
  const alerts = unit.of("reported_alert")
  const incidents = new Incidents(unit, present.incidents)
  const state = alertStateOf(check)
  switch (judged.verdict) {
    case "later":
      return alerts.put({ ...alert, next_evaluation_at: evaluationAfter(judged.at) })
    case "forgotten":
      if (state !== "lapsed" && state !== "resolved") return
      move(ReportedAlertTransitions, state, "forgotten")
      yield* removeFound(incidents, agent, check, SYSTEM)
      return
    case "source_fell_silent": {
      if (state !== "firing" || expectation === undefined) return
      move(ReportedAlertTransitions, state, "source_fell_silent")
      const { due } = judged
      const said = lateText(check.received_at, { due, longest: undefined }, present.incidents.policy().tz)
      const text = `${said}: ${alert.source || "its source"} is silent`
      yield* becomeOverdue(incidents, { expectation, due, text })
      return alerts.put({
        ...alert,
        next_evaluation_at: Instant.plus(unit.now, durationOf(integration.options, "resend")),
      })
    }
    case "no_news":
      if (state !== "firing") return
      move(ReportedAlertTransitions, state, "no_news")
      return yield* endCheck(unit, {
        ...present,
        ...found,
        output: noNewsFor(integration.options.lapse_after ?? ""),
      })
    case "not_sent":
      if (state !== "firing" && state !== "as_last_heard") return
      move(ReportedAlertTransitions, state, "not_sent")
      return yield* endCheck(unit, { ...present, ...found, output: NO_LONGER_SENT })
  }
}
