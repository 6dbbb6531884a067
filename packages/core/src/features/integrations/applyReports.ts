import { Result } from "effect"
import type { CheckId, KeyHash } from "@tocsin/contract/formats/Identifiers"
import type * as Instant from "@tocsin/contract/formats/Instant"
import type { IntegrationKind } from "@tocsin/contract/integrations/Integrations"
import { move } from "@tocsin/contract/formats/TransitionTable"
import { applyResults } from "../../heart/checks/applyBatch.ts"
import type { BatchInput, CheckResult } from "../../heart/checks/applyEvent.ts"
import { commandOf, type Decision, load } from "../../kernel/unitOfWork/Decision.ts"
import type { UnitOfWork } from "../../kernel/unitOfWork/UnitOfWork.ts"
import { Incidents } from "../../heart/incidents/Incidents.ts"
import type { AgentRecord } from "../../heart/model/AgentRecord.ts"
import { type CheckRecord, isSameReport } from "../../heart/model/CheckRecord.ts"
import { type CheckRef, checksOf } from "../../kernel/model/CheckRef.ts"
import type { Terms } from "../../heart/model/ExpectationRecord.ts"
import { type IntegrationRecord, isValidKey } from "./IntegrationRecord.ts"
import { alertStateOf, ReportedAlertTransitions } from "./ReportedAlertRecord.ts"
import { expectCheck } from "../../heart/overdue/changeExpectation.ts"
import { evaluateLabelled } from "../../heart/overdue/declareExpectations.ts"
import { actOnAlert } from "./actOnAlert.ts"
import { declarationOf, expectedTerms } from "./expected.ts"
import { followAlert } from "./endCheck.ts"
import { forgetRun, remember, withRun } from "./followRuns.ts"
import { KINDS } from "./kinds.ts"
import { type KnownIntegration, knownOf, type TakenReports } from "./KnownIntegration.ts"
import type { RuleOptions } from "../../kernel/ports/RuleSettings.ts"
import type { MailInput } from "./mail/MailInput.ts"
import { takeMail } from "./mail/takeMail.ts"
import { readRequest } from "./readRequest.ts"
import { isRefusal } from "./sources.ts"
import { labelsGiven, relabels, titleNew } from "./reportedTitles.ts"
import {
  type AnyReport,
  eventOf,
  numbersOf,
  type Reading,
  type Refusal,
  refusalOfFull,
  type Report,
  type SenderRequest,
} from "./Report.ts"

/** How many reports one transaction takes (docs/rules.md#integrations). */
export const MOST_REPORTS = 200

/** A part of a sender's request, and the key in it. */
export interface SenderInput
  extends Omit<BatchInput, "request">, Pick<RuleOptions, "longestAcknowledgement"> {
  readonly kind: IntegrationKind
  readonly key_hash: KeyHash
  readonly request: SenderRequest
  readonly start: number
  /** The integration that had the key when this was last looked up, and the request by its options. */
  readonly known: KnownIntegration
  readonly reading: Reading | Refusal
  /** The mail that it is, of the kind that takes mails. */
  readonly mail?: MailInput | undefined
}

const partOf = (reading: Reading | Refusal, start: number): ReadonlyArray<AnyReport> =>
  isRefusal(reading) ? [] : reading.reports.slice(start, start + MOST_REPORTS)

const isAlert = ({ expects }: AnyReport): boolean => expects.by === "source"

const idsOf = (reading: Reading | Refusal, start: number): ReadonlyArray<CheckId> => {
  const ids = partOf(reading, start).map(({ check_id }) => check_id)
  const act = isRefusal(reading) ? undefined : reading.act
  return act === undefined ? ids : [...ids, act.check_id]
}

/** Whether what was read of an integration still holds, and gives it this kind and key. */
const isCurrent = (
  agent: AgentRecord,
  { key_hash, kind, known }: Pick<SenderInput, "key_hash" | "kind" | "known">,
  now: Instant.Instant,
): boolean =>
  // A rotation replaces the key of the agent, too; other options move its time.
  agent.accepted_key_hash === known.integration.key_hash &&
  agent.registration_id === known.agent.registration_id &&
  agent.observed_at === known.agent.observed_at &&
  known.integration.kind === kind &&
  isValidKey(known.integration, key_hash, now)

/**
 * Decides a part of a sender's request (docs/rules.md#integrations). Usually it needs the rows of its agent
 * and checks alone, so that storages commit it with others.
 */
export const applyReports = commandOf(function* (
  unit,
  input: SenderInput,
): Decision<TakenReports | "unknown_key"> {
  const { now } = unit
  const { key_hash, kind, start } = input
  let { known, reading } = input
  const { name } = known.integration
  const asked = idsOf(input.reading, start)
  yield* load(unit, {
    agents: [name],
    ...(asked.length > 0 && { checks: { agent_id: name, check_ids: asked } }),
  })
  const agent = unit.agents.get(name)
  if (agent === undefined) return "unknown_key"
  if (!isCurrent(agent, input, now)) {
    yield* load(unit, { rows: { integration: [name] } })
    const present = knownOf(unit, name)
    if (present?.integration.kind !== kind || !isValidKey(present.integration, key_hash, now))
      return "unknown_key"
    known = present
    reading = readRequest(input, known.integration, now)
  }
  if (isRefusal(reading)) return { known, reading, refusals: [reading] }
  const read = reading
  const { options } = known.integration
  const apply = () => takeAll(unit, { ...input, integration: known.integration, agent }, read)
  const refusals =
    input.mail === undefined ? yield* apply() : yield* takeMail(unit, input.mail, { agent, options, apply })
  return { known, reading, refusals }
})

interface Accepted extends SenderInput {
  readonly integration: IntegrationRecord
  readonly agent: AgentRecord
}

export const checkCount = ({
  checks_critical,
  checks_ok,
  checks_unknown,
  checks_warning,
}: AgentRecord): number => checks_critical + checks_ok + checks_unknown + checks_warning

/** How many checks an agent has, those included that have begun and never reported. */
function* countOf(unit: UnitOfWork, { agent, kind }: Accepted): Decision<number> {
  if (!KINDS[kind].hasRuns) return checkCount(agent)
  yield* load(unit, { groups: { expectation: [agent], job_run: [agent] } })
  const { agent_id, registration_id } = agent
  const known = [...unit.expectations.group(registration_id), ...unit.of("job_run").group(registration_id)]
  const check_ids = Array.from(new Set(known.map(({ check_id }) => check_id)))
  yield* load(unit, { checks: { agent_id, check_ids } })
  const unreported = checksOf(agent, check_ids).filter((ref) => unit.checks.get(ref) === undefined)
  return checkCount(agent) + unreported.length
}

/** Why a report on a check that is not known yet is refused, if it is. */
function* refusalOfNew(unit: UnitOfWork, accepted: Accepted, created: number): Decision<Refusal | undefined> {
  const {
    kind,
    integration: { options },
  } = accepted
  if (options.create === false) return { refused: "not_found", message: "this integration creates no checks" }
  const { max_checks: most = KINDS[kind].mostChecks } = options
  if ((yield* countOf(unit, accepted)) + created < most) return undefined
  return refusalOfFull(most)
}

/** A report that is taken, with what it needs beyond its check. */
interface Item {
  readonly ref: CheckRef
  readonly check: CheckRecord | undefined
  readonly report: AnyReport
  /** Absent if its terms are refused: they are refused again. */
  readonly declaration: string | undefined
  /** The terms that it gives, if its expectation may have to change. */
  readonly terms: Terms | undefined
  readonly isDeclaring: boolean
}

/** Takes the reports of a part, and returns why it refuses some. */
function* takeAll(unit: UnitOfWork, accepted: Accepted, reading: Reading): Decision<ReadonlyArray<Refusal>> {
  const { agent, start } = accepted
  const { agent_id } = agent
  const reports = partOf(reading, start)
  if (reading !== accepted.reading)
    yield* load(unit, { checks: { agent_id, check_ids: idsOf(reading, start) } })
  const refusals = start === 0 ? Array.from(reading.refusals) : []
  if (reading.act !== undefined && start === 0) yield* actOnAlert(unit, reading.act, accepted)
  const items: Array<Item> = []
  const created = new Set<CheckId>()
  for (const report of reports) {
    const found = find(unit, accepted, report)
    // Most reports repeat what their check shows, and a generator would double their cost.
    const isRepeated = found.check !== undefined && !found.isDeclaring
    const judged = isRepeated ? found : yield* judge(unit, accepted, found, { created, refusals })
    if (judged === undefined) continue
    if ("refused" in judged) refusals.push(judged)
    else items.push(judged)
  }
  const declaring = items.filter(({ isDeclaring }) => isDeclaring)
  const refsOf = (some: ReadonlyArray<Item>) => some.map(({ ref }) => ref)
  yield* load(unit, {
    rows: {
      check_label: refsOf(declaring.filter(({ report }) => "labels" in report)),
      expectation: refsOf(declaring),
      reported_alert: refsOf(declaring.filter(({ report }) => isAlert(report))),
      job_run: refsOf(declaring.filter(({ report }) => !isAlert(report))),
    },
  })
  // Routes compare labels when an incident opens.
  const relabelled = declaring.filter(({ ref, report }) => relabels(unit, accepted, ref, report))
  yield* applyAll(unit, accepted, items)
  for (const item of declaring) yield* declare(unit, accepted, item)
  yield* titleNew(unit, items, accepted)
  // Nothing compares the labels of a check before it is stored.
  if (relabelled.some(({ check }) => check !== undefined)) unit.raise("labels", accepted.incidents.newEventId)
  const refs = relabelled.map(({ ref }) => ref)
  if (refs.length > 0) yield* evaluateLabelled(unit, refs, accepted.incidents.policy())
  return refusals
}

const find = (unit: UnitOfWork, { agent, incidents }: Accepted, report: AnyReport): Item => {
  const ref = { agent_id: agent.agent_id, registration_id: agent.registration_id, check_id: report.check_id }
  const check = unit.checks.get(ref)
  const declaration = declarationOf(report, incidents.sha256)
  const isDeclaring = report.signal !== "result" || check?.declaration !== declaration
  return { ref, check, report, declaration, isDeclaring, terms: undefined }
}

/** Whether a report is taken, and by which terms; `undefined` if it is ignored. */
function* judge(
  unit: UnitOfWork,
  accepted: Accepted,
  found: Item,
  { created, refusals }: { readonly created: Set<CheckId>; readonly refusals: Array<Refusal> },
): Decision<Item | Refusal | undefined> {
  const { check, ref, report } = found
  const terms = expectedTerms(report, { kind: accepted.kind, staleAfter: accepted.incidents.staleAfter })
  const isBad = report.signal === "result" && report.status !== "ok"
  if (Result.isFailure(terms) && !isBad) return terms.failure
  if (check === undefined && !created.has(report.check_id)) {
    if (report.signal === "result" && report.isOfKnownCheck === true) return undefined
    yield* load(unit, { rows: { expectation: [ref], job_run: [ref] } })
    const isKnown = unit.expectations.get(ref) !== undefined || unit.of("job_run").get(ref) !== undefined
    const refusal = isKnown ? undefined : yield* refusalOfNew(unit, accepted, created.size)
    if (refusal !== undefined) return refusal
    created.add(report.check_id)
  }
  if (Result.isSuccess(terms)) return { ...found, terms: terms.success }
  // A failure counts, whatever is wrong with what it declares.
  const message = "the failure is stored without these terms; correct them"
  refusals.push(terms.failure, { refused: "ignored", message })
  return { ...found, declaration: undefined }
}

/** Applies the results among these reports, in their order. */
function* applyAll(unit: UnitOfWork, accepted: Accepted, items: ReadonlyArray<Item>): Decision<void> {
  const { agent } = accepted
  const { now } = unit
  const events: Array<CheckResult> = []
  const chosen = numbersOf(accepted.integration.options)
  for (const { check, isDeclaring, ref, report } of items) {
    if (report.signal !== "result") continue
    if (report.expects.by === "source")
      move(ReportedAlertTransitions, alertStateOf(check), report.status === "ok" ? "resolved" : "fired")
    const ended = isDeclaring && !isAlert(report) ? withRun(unit.of("job_run").get(ref), report, now) : report
    const isSame =
      report.isTextKept === true && check?.status === report.status && check.summary !== undefined
    const event = eventOf(ended, now)
    const output = isSame ? check.summary : event.output && chosen(event.output)
    events.push({ ...event, ...(output !== undefined && { output }) })
  }
  if (events.length === 0) return
  yield* applyResults(unit, agent, {
    ...accepted,
    request: { agent_id: agent.agent_id, events },
  })
}

/** Makes the expectation of a check follow a report. Needs its expectation, after its result. */
function* declare(unit: UnitOfWork, accepted: Accepted, item: Item): Decision<void> {
  const { declaration, ref, report, terms } = item
  const { expects } = report
  const incidents = new Incidents(unit, accepted.incidents)
  if (terms !== undefined) yield* expectCheck(incidents, { ref, origin: "agent", terms })
  const { options } = accepted.integration
  if (expects.by === "source") yield* followAlert(incidents, { ...expects, ref, options })
  else if (report.signal === "result") forgetRun(unit, ref, report, accepted.kind)
  else remember(unit, ref, report, accepted.kind)
  const check = unit.checks.get(ref)
  if (check === undefined) return
  const follows = report.signal === "result" && isFollowed(unit, ref, report)
  const next = follows ? declaration : undefined
  if (check.declaration !== next) unit.checks.put({ ...check, declaration: next })
}

/** Whether nothing is left of a check's runs, and its labels, which change once a minute, are those given. */
const isFollowed = (unit: UnitOfWork, ref: CheckRef, report: Report): boolean => {
  const { labels } = report
  const hasLabels = labels === undefined || isSameReport(labelsGiven(unit, ref), labels)
  return hasLabels && (isAlert(report) || unit.of("job_run").get(ref) === undefined)
}
