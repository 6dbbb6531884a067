import { Duration, Result, SchemaParser } from "effect"
import { describeIssue } from "@tocsin/contract/describeIssue"
import { ExpectedCheck } from "@tocsin/contract/Expectations"
import type { AgentId, EventId, KeyHash } from "@tocsin/contract/Identifiers"
import * as Instant from "@tocsin/contract/Instant"
import { type IntegrationKind, MOST_INTEGRATION_CHECKS } from "@tocsin/contract/Integrations"
import { applyResults } from "../checks/applyBatch.ts"
import type { BatchInput } from "../checks/applyEvent.ts"
import { commandOf, type Decision } from "../engine/unitOfWork/Decision.ts"
import { load } from "../engine/unitOfWork/load.ts"
import type { UnitOfWork } from "../engine/unitOfWork/UnitOfWork.ts"
import type { AgentRecord } from "../model/AgentRecord.ts"
import { Incidents } from "../incidents/Incidents.ts"
import type { EventOutcome } from "../model/CheckRecord.ts"
import type { Terms } from "../model/ExpectationRecord.ts"
import { type IntegrationRecord, isValidKey } from "../model/IntegrationRecord.ts"
import { expectCheck } from "../overdue/changeExpectation.ts"
import { decideTerms } from "../policy/decideTerms.ts"
import { ping } from "./ping.ts"
import { push } from "./push.ts"
import type { Logged, Refusal, Report, SenderRequest, Started, Translate } from "./Report.ts"
import { forgetRun, remember, withRun } from "./runs.ts"

/** How each kind of integration reads a request. */
const TRANSLATIONS: Readonly<Record<IntegrationKind, Translate>> = { ping, push }

// Limits how often a request writes the integration (docs/rules.md#integrations).
const NOTED_EVERY = Duration.seconds(15)

/** The report in a request, or why it is refused. */
const read = (
  { kind, request, sha256 }: Pick<SenderInput, "kind" | "request" | "sha256">,
  options: IntegrationRecord["options"],
): ReturnType<Translate> => {
  const { methods } = options
  return methods === undefined || methods.some((allowed) => allowed === request.method)
    ? TRANSLATIONS[kind](request, options, sha256)
    : { refused: "invalid", message: `method not allowed; use ${methods.join(", ")}` }
}

/** A request of a sender, and the key in it. */
export interface SenderInput extends Pick<BatchInput, "incidents" | "sha256" | "staleAfter"> {
  readonly kind: IntegrationKind
  /** The integration that had the key when this was last looked up. */
  readonly name: AgentId
  readonly key_hash: KeyHash
  readonly request: SenderRequest
  readonly newEventId: (now: Instant.Instant) => EventId
}

/** The result of a sender's request; a refused one changes no check. */
export type ReportOutcome = Applied | Refusal | "unknown_key"

/** The outcome of a result, or that a start or a log was noted. */
interface Applied {
  readonly applied: EventOutcome | "noted"
}

/** Finds the integration of a key by its hash; the key may be no longer valid. Changes nothing. */
export const integrationOfKey = commandOf(function* (
  unit,
  _now,
  key_hash: KeyHash,
): Decision<AgentId | undefined> {
  yield* load(unit, { rows: { agent_key: [key_hash] } })
  return unit.keys.get(key_hash)?.agent_id
})

const checkCount = ({ checks_critical, checks_ok, checks_unknown, checks_warning }: AgentRecord): number =>
  checks_critical + checks_ok + checks_unknown + checks_warning

/** How many checks an agent has, those included that have begun and never reported. */
function* countOf(unit: UnitOfWork, agent: AgentRecord): Decision<number> {
  yield* load(unit, { groups: { expectation: [agent] } })
  const expected = unit.expectations.group(agent.registration_id)
  const check_ids = expected.map(({ check_id }) => check_id)
  yield* load(unit, { checks: { agent_id: agent.agent_id, check_ids } })
  return checkCount(agent) + expected.filter((ref) => unit.checks.get(ref) === undefined).length
}

/** Why a report on a check that is not known yet is refused, if it is. */
function* refusalOfNew(
  unit: UnitOfWork,
  { options }: IntegrationRecord,
  agent: AgentRecord,
): Decision<Refusal | undefined> {
  if (options.create === false) return { refused: "not_found", message: "this integration creates no checks" }
  const { max_checks: most = MOST_INTEGRATION_CHECKS } = options
  if ((yield* countOf(unit, agent)) < most) return undefined
  const message = `this integration has ${most} checks, the most that it may have`
  return { refused: "too_many_checks", message }
}

/** Decides a sender's request: one result of one check (docs/rules.md#integrations). */
export const applyReport = commandOf(function* (unit, now, input: SenderInput): Decision<ReportOutcome> {
  const { key_hash, kind, name } = input
  yield* load(unit, { agents: [name], rows: { integration: [name] } })
  const integration = unit.of("integration").get(name)
  const agent = unit.agents.get(name)
  if (integration?.kind !== kind || agent === undefined || !isValidKey(integration, key_hash, now))
    return "unknown_key"
  const report = read(input, integration.options)
  const outcome =
    "refused" in report ? report : yield* applied(unit, { integration, agent, report, input, now })
  note(unit, integration, outcome, now)
  return outcome
})

interface Accepted {
  readonly integration: IntegrationRecord
  readonly agent: AgentRecord
  readonly report: Report | Started | Logged
  readonly input: SenderInput
  readonly now: Instant.Instant
}

/** The place of the only check in a declaration, which its sender has not seen. */
const PLACE = /^checks\[0\][. ]/u

/** The terms that a request declares, if any, or why they are none. */
const termsOf = (
  { check_id, terms }: Accepted["report"],
  staleAfter: Duration.Duration,
): Result.Result<Terms | undefined, { readonly message: string }> => {
  if (Object.keys(terms).length === 0) return Result.succeed(undefined)
  const declared = SchemaParser.decodeUnknownResult(ExpectedCheck)({ check_id, ...terms })
  if (Result.isFailure(declared))
    return Result.fail({ message: describeIssue(declared.failure, "the parameters") })
  const decided = decideTerms({ checks: [declared.success], complete: false }, staleAfter)
  return Result.mapBoth(decided, {
    onFailure: (error) => ({ message: error.message.replace(PLACE, "") }),
    onSuccess: ([check]) => check?.terms,
  })
}

function* applied(
  unit: UnitOfWork,
  { agent, input, integration, now, report }: Accepted,
): Decision<Applied | Refusal> {
  const terms = termsOf(report, input.staleAfter)
  if (Result.isFailure(terms)) return { refused: "invalid", message: terms.failure.message }
  const { agent_id, registration_id } = agent
  const { check_id } = report
  const ref = { agent_id, registration_id, check_id }
  yield* load(unit, { checks: { agent_id, check_ids: [check_id] }, rows: { expectation: [ref] } })
  if (unit.checks.get(ref) === undefined && unit.expectations.get(ref) === undefined) {
    const refusal = yield* refusalOfNew(unit, integration, agent)
    if (refusal !== undefined) return refusal
  }
  const outcome = report.signal === "result" ? yield* result(unit, { agent, input, now }, report) : "noted"
  if (terms.success !== undefined)
    yield* expectCheck(unit, new Incidents(unit, now, input.incidents), {
      ref,
      origin: "agent",
      terms: terms.success,
      now,
    })
  if (report.signal === "result") forgetRun(unit, ref, report)
  else remember(unit, ref, report, now)
  return { applied: outcome }
}

function* result(
  unit: UnitOfWork,
  { agent, input, now }: Pick<Accepted, "agent" | "input" | "now">,
  report: Report,
): Decision<EventOutcome> {
  const { agent_id, registration_id } = agent
  const ref = { agent_id, registration_id, check_id: report.check_id }
  const check = unit.checks.get(ref)
  const {
    rid: _rid,
    signal: _signal,
    terms: _terms,
    ...shown
  } = withRun(unit.expectations.get(ref), report, now)
  const event = {
    ...shown,
    event_id: input.newEventId(now),
    // A result of an integration is never late.
    observed_at: check === undefined ? now : Instant.max(now, check.last_observed_at),
    notifications_enabled: true,
  }
  const [outcome] = yield* applyResults(unit, now, agent, {
    ...input,
    request: { agent_id, events: [event] },
  })
  if (outcome === undefined) throw new Error("a result has no outcome")
  return outcome
}

/** Keeps when a request was last taken, or refused and why. */
const note = (
  unit: UnitOfWork,
  integration: IntegrationRecord,
  outcome: Applied | Refusal,
  now: Instant.Instant,
): void => {
  const isRefusal = "refused" in outcome
  const last = isRefusal ? integration.last_refused_at : integration.last_request_at
  if (last !== undefined && Instant.isRecent(last, NOTED_EVERY, now)) return
  unit
    .of("integration")
    .put(
      isRefusal
        ? { ...integration, last_refused_at: now, last_refusal: outcome.message }
        : { ...integration, last_request_at: now },
    )
}
