import { type Duration, Equal, Result } from "effect"
import { forgetMails, removeAgent } from "../../heart/admission/removeAgent.ts"
import { giveTitle, putAgentTitles } from "../../heart/checks/titleCheck.ts"
import { recordAudit, type Signature } from "../../heart/audit/recordAudit.ts"
import { ValidationError } from "@tocsin/contract/formats/Errors"
import { formatDuration } from "@tocsin/contract/formats/DurationText"
import type { AgentId } from "@tocsin/contract/formats/Identifiers"
import * as Instant from "@tocsin/contract/formats/Instant"
import type { IntegrationKind, IntegrationOptions } from "@tocsin/contract/integrations/Integrations"
import { move } from "@tocsin/contract/formats/TransitionTable"
import { commandOf, type Decision, load } from "../../kernel/unitOfWork/Decision.ts"
import type { UnitOfWork } from "../../kernel/unitOfWork/UnitOfWork.ts"
import type { IncidentOptions } from "../../heart/incidents/incidentOptions.ts"
import { Incidents } from "../../heart/incidents/Incidents.ts"
import { AgentKeyTransitions, type AgentRecord } from "../../heart/model/AgentRecord.ts"
import type { IntegrationRecord } from "./IntegrationRecord.ts"
import {
  acceptedKey,
  createIntegrated,
  type NewKey,
  openIntegration,
} from "../../heart/admission/openIntegration.ts"
import { formerSecret } from "../../kernel/model/replacedSecret.ts"
import { optionProblem } from "./kinds.ts"
import { changeWatchdog, declaredTerms } from "./expected.ts"
import { expectCheck, withdrawExpectation } from "../../heart/overdue/changeExpectation.ts"
import { expectsOf } from "./mail/decideMail.ts"
import { dueAt, looksNext } from "./mail/takeMail.ts"

/** Expects the checks of an integration that mails report, and ends them, by changed options. Needs the agent. */
function* followOptions(
  incidents: Incidents,
  { agent_id, registration_id }: Pick<AgentRecord, "agent_id" | "registration_id">,
  options: IntegrationOptions,
): Decision<void> {
  const { unit } = incidents
  const of = { agent_id, registration_id }
  yield* load(unit, { groups: { mailed_check: [of] } })
  const mailed = unit.of("mailed_check")
  const rows = mailed.group(registration_id)
  const check_ids = rows.map(({ check_id }) => check_id)
  yield* load(unit, { checks: { agent_id, check_ids }, rows: { expectation: rows } })
  const expects = expectsOf(options)
  for (const row of rows) {
    const check = unit.checks.get(row)
    if (check === undefined) continue
    mailed.put({ ...row, next_evaluation_at: looksNext(dueAt(check, row, options), unit.now) })
    if (row.is_by_subject) continue
    const expectation = unit.expectations.get(row)
    const terms =
      expects.by === "terms"
        ? declaredTerms(row, expects.terms, { kind: "mail", staleAfter: incidents.options.staleAfter })
        : undefined
    if (terms !== undefined && Result.isSuccess(terms) && terms.success !== undefined)
      yield* expectCheck(incidents, { ref: row, origin: "agent", terms: terms.success })
    else if (expectation?.origin === "agent") yield* withdrawExpectation(incidents, expectation)
  }
}

/** How many integrations there may be (docs/rules.md#integrations). */
export const MOST_INTEGRATIONS = 1_000

export interface NewIntegration {
  /** After this silence an agent is stale: the shortest time that terms may have follows from it. */
  readonly staleAfter: Duration.Duration
  readonly name: AgentId
  readonly title: string | undefined
  readonly kind: IntegrationKind
  readonly options: IntegrationOptions
}

/** Creates an integration with its agent, unless the name is in use or there are too many. */
export const createIntegration = commandOf(function* (
  unit,
  { kind, name, options, staleAfter, title }: NewIntegration,
  opening: NewKey,
  by: Signature,
) {
  const problem = optionProblem(kind, options, staleAfter)
  if (problem !== undefined) return problem
  yield* load(unit, { agents: [name], groups: { integration: ["all"] } })
  const all = unit.of("integration").group("all")
  if (unit.agents.get(name) !== undefined || all.some((other) => other.name === name)) return "name_in_use"
  if (all.length >= MOST_INTEGRATIONS) return "too_many"
  const { integration } = openIntegration(unit, { name, title, kind, options }, opening, by.actor)
  recordAudit(unit, by, "integration.created", [name], { kind })
  return integration
})

function* find(unit: UnitOfWork, name: AgentId): Decision<IntegrationRecord | undefined> {
  yield* load(unit, { agents: [name], rows: { integration: [name] } })
  return unit.of("integration").get(name)
}

/** Gives the check that the option `check` names the title of its integration, and a former one its own. */
function* giveTitles(
  unit: UnitOfWork,
  agent: AgentRecord,
  { options: { check: former } }: IntegrationRecord,
  { options: { check }, title }: IntegrationRecord,
  incidents: IncidentOptions,
): Decision<void> {
  for (const check_id of new Set([former, check]))
    if (check_id !== undefined)
      yield* giveTitle(unit, { ...agent, check_id }, check_id === check ? title : undefined, incidents)
}

/** Replaces the options or the title; `undefined` if there is no such integration, a text if its kind cannot have them. */
export const changeIntegration = commandOf(function* (
  unit,
  name: AgentId,
  changes: Partial<Pick<IntegrationRecord, "options" | "title">>,
  incidents: IncidentOptions,
  by: Signature,
) {
  const integration = yield* find(unit, name)
  if (integration === undefined) return undefined
  if (Object.keys(changes).length === 0)
    return new ValidationError({ message: "give options, a title, or both" })
  const changed = { ...integration, ...changes }
  const { options } = changed
  const problem = optionProblem(integration.kind, options, incidents.staleAfter)
  if (problem !== undefined) return problem
  const hasSameOptions = Equal.equals(integration.options, options)
  if (hasSameOptions && integration.title === changed.title) return integration
  unit.of("integration").put(changed)
  const agent = unit.agents.get(name)
  // Its time is the version of the options.
  if (agent !== undefined) {
    const observed_at = Instant.max(unit.now, Instant.fromMicros(agent.observed_at + 1n))
    putAgentTitles(unit, { ...agent, observed_at }, { given_title: changed.title }, incidents)
    yield* giveTitles(unit, agent, integration, changed, incidents)
    if (!hasSameOptions)
      yield* changeWatchdog(new Incidents(unit, incidents), { agent, options }, integration.options)
    if (!hasSameOptions && integration.kind === "mail")
      yield* followOptions(new Incidents(unit, incidents), agent, options)
  }
  recordAudit(unit, by, "integration.changed", [name], {})
  return changed
})

/** Replaces the key. A closed integration gets a new agent, too. */
export const rotateKey = commandOf(function* (
  unit,
  name: AgentId,
  { grace, ...opening }: NewKey & { readonly grace: Duration.Duration },
  by: Signature,
) {
  const integration = yield* find(unit, name)
  if (integration === undefined) return undefined
  const former = formerSecret(integration.key_hash, grace, unit.now)
  const changed = {
    ...integration,
    key_hash: opening.key.key_hash,
    former_key_hash: former?.hash,
    former_valid_until: former?.valid_until,
  }
  unit.of("integration").put(changed)
  const agent = unit.agents.get(name)
  if (agent === undefined) {
    createIntegrated(unit, integration, opening)
  } else {
    yield* load(unit, { groups: { agent_key: [name] } })
    for (const key of unit.keys.group(name))
      if (key.state === "accepted")
        unit.keys.put({ ...key, state: move(AgentKeyTransitions, key.state, "superseded") })
    unit.keys.put(acceptedKey(opening, name, unit.now))
    unit.putAgent({
      ...agent,
      accepted_key_hash: opening.key.key_hash,
      key_fingerprint: opening.key.key_fingerprint,
    })
  }
  recordAudit(unit, by, "integration.rotated", [name], { grace: formatDuration(grace) })
  return changed
})

/** Removes an integration with its agent. Returns how many there were. */
export const removeIntegration = commandOf(function* (
  unit,
  name: AgentId,
  incidents: IncidentOptions,
  by: Signature,
) {
  const integration = yield* find(unit, name)
  if (integration === undefined) return 0
  unit.of("integration").delete(name)
  yield* forgetMails(unit, integration)
  const agent = unit.agents.get(name)
  if (agent !== undefined) yield* removeAgent(unit, agent, incidents, by.actor)
  recordAudit(unit, by, "integration.removed", [name], {})
  return 1
})
