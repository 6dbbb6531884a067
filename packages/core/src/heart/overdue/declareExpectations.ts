import { Duration, Result } from "effect"
import type { Labels } from "@tocsin/contract/labels/Labels"
import * as Instant from "@tocsin/contract/formats/Instant"
import { scheduleWarnings } from "@tocsin/contract/overdue/scheduleWarnings"
import { commandOf, type Decision, load } from "../../kernel/unitOfWork/Decision.ts"
import type { UnitOfWork } from "../../kernel/unitOfWork/UnitOfWork.ts"
import { hasHeld } from "../firings/Hold.ts"
import type { Policy } from "../policy/compilePolicy.ts"
import { type CheckRef, checksOf } from "../../kernel/model/CheckRef.ts"
import { isSameReport } from "../model/CheckRecord.ts"
import { titled } from "../model/titles.ts"
import type { AgentRecord } from "../model/AgentRecord.ts"
import { recognise } from "../admission/agentKeys.ts"
import { ValidationError } from "@tocsin/contract/formats/Errors"
import type { ExpectationsRequest, ExpectationsResponse } from "@tocsin/contract/overdue/Expectations"
import type { AgentId, CheckId, KeyHash } from "@tocsin/contract/formats/Identifiers"
import type { IncidentOptions } from "../incidents/incidentOptions.ts"
import { Incidents } from "../incidents/Incidents.ts"
import { expectCheck, withdrawExpectation } from "./changeExpectation.ts"
import { followPolicy } from "./followPolicy.ts"
import { followList, missedChecks } from "./listedChecks.ts"
import { decideTerms, type DeclaredCheck } from "../policy/decideTerms.ts"

const MOST_WARNINGS = 10

const isOlder = (version: string) =>
  new ValidationError({ message: `as_of must be absent while a server of version ${version} runs` })

const warningsOf = ({ checks }: ExpectationsRequest): Pick<ExpectationsResponse, "warnings"> => {
  const warnings = checks.flatMap((each, n) =>
    scheduleWarnings(each).map(({ message, path }) => `checks[${n}].${path.join()} ${message}`),
  )
  return warnings.length === 0 ? {} : { warnings: warnings.slice(0, MOST_WARNINGS) }
}

/** The labels of a check change at most this often; a later declaration changes them. */
const AT_MOST_EVERY = Duration.minutes(1)

interface Labelling {
  readonly atMostEvery?: Duration.Duration
  readonly given_title?: string | undefined
}

/**
 * Gives a check these labels (docs/rules.md#check-labels), unless they changed within `atMostEvery`: then it keeps
 * its own. Of an alert, they make its title. Needs their row.
 */
export const labelCheck = (
  unit: UnitOfWork,
  ref: CheckRef,
  given: Labels | undefined,
  { atMostEvery = AT_MOST_EVERY, ...ofAlert }: Labelling = {},
): "equal" | "changed" | "kept" => {
  const table = unit.of("check_label")
  const before = table.get(ref)
  const titles = { title: before?.title, given_title: before?.given_title, ...ofAlert }
  const { labels = {}, ...next } = titled(given, titles)
  const isEmpty = Object.keys(labels).length === 0 && next.declared_title === undefined
  if (before === undefined ? isEmpty : isSameReport(before.labels, labels)) {
    const { declared_title, given_title } = next
    if (
      before !== undefined &&
      (before.declared_title !== declared_title || before.given_title !== given_title)
    )
      table.put({ ...before, declared_title, given_title })
    return "equal"
  }
  if (before !== undefined && unit.now < Instant.plus(before.labelled_at, atMostEvery)) return "kept"
  const { agent_id, check_id, registration_id } = ref
  if (isEmpty) table.delete(ref)
  else table.put({ agent_id, check_id, registration_id, ...next, labels, labelled_at: unit.now })
  return "changed"
}

/**
 * Evaluates the open incidents of checks soon, since matchers may compare their labels. Needs the checks
 * and expectations.
 */
export function* evaluateLabelled(
  unit: UnitOfWork,
  refs: ReadonlyArray<CheckRef>,
  { routesReadAgents }: Pick<Policy, "routesReadAgents">,
): Decision<void> {
  const ids = new Set(
    refs
      .flatMap((ref) => [unit.checks.get(ref)?.incident_id, unit.expectations.get(ref)?.incident_id])
      .filter((id) => id !== undefined),
  )
  if (ids.size === 0) return
  yield* load(unit, { incidents: Array.from(ids) })
  for (const id of ids) {
    const incident = unit.incidents.get(id)
    if (incident?.state !== "open") continue
    if (routesReadAgents || hasHeld(unit, incident))
      unit.incidents.put({ ...incident, next_evaluation_at: unit.now })
  }
}

const unlisted = (check_id: CheckId): DeclaredCheck => ({ check_id, terms: undefined, labels: undefined })

/** The checks whose terms and labels end with a complete declaration. Needs the groups of their rows. */
function* leftOut(
  unit: UnitOfWork,
  agent: AgentRecord,
  { declared, isList }: { readonly declared: ReadonlySet<CheckId>; readonly isList: boolean },
): Decision<ReadonlyArray<CheckId>> {
  const { agent_id, registration_id } = agent
  const missed = new Set(isList ? missedChecks(unit, agent, declared).map((ref) => ref.check_id) : [])
  yield* load(unit, { checks: { agent_id, check_ids: Array.from(missed) } })
  return [
    ...unit.expectations
      .group(registration_id)
      // One that is late leaves its incident when it is withdrawn, if it is.
      .filter(
        (row) => row.origin === "agent" && !(row.incident_id !== undefined && missed.has(row.check_id)),
      ),
    ...unit.of("check_label").group(registration_id),
  ].flatMap(({ check_id }) => (declared.has(check_id) ? [] : check_id))
}

/** The result of a declaration; a refused one changes nothing. */
export type DeclarationOutcome =
  | { readonly outcome: "declared"; readonly counts: ExpectationsResponse }
  | { readonly outcome: "invalid"; readonly error: ValidationError }
  | { readonly outcome: "agent_blocked" | "agent_not_accepted" }

/**
 * Decides which checks of an agent are expected to report (docs/rules.md#expectations). Reads the terms of
 * accepted keys only: a thousand cron expressions take longer than all else about a request.
 */
export const declareExpectations = commandOf(function* (
  unit,
  input: {
    readonly agent_id: AgentId
    readonly key_hash: KeyHash
    readonly request: ExpectationsRequest
    readonly incidents: IncidentOptions
    /** The version of a running server that knows no lists of checks. */
    readonly older?: string | undefined
  },
): Decision<DeclarationOutcome> {
  const { agent_id, key_hash, request } = input
  const found = yield* recognise(unit, { agent_id, key_hash })
  if (found.standing === "blocked") return { outcome: "agent_blocked" }
  if (found.standing !== "accepted") return { outcome: "agent_not_accepted" }
  if (input.older !== undefined) return { outcome: "invalid", error: isOlder(input.older) }
  const read = decideTerms(request, input.incidents.staleAfter)
  if (Result.isFailure(read)) return { outcome: "invalid", error: read.failure }
  const { registration_id } = found.agent
  const declared = new Set(request.checks.map(({ check_id }) => check_id))
  const asOf = request.as_of && Instant.min(request.as_of, unit.now)
  const isList = asOf !== undefined && asOf >= (found.agent.listed_as_of ?? asOf)
  const isComplete = asOf === undefined ? request.complete : isList
  const checks = { agent_id, check_ids: Array.from(declared) }
  const refs = checksOf(found.agent, checks.check_ids)
  yield* load(unit, {
    checks,
    rows: { check_label: refs, expectation: refs, ...(isList && { listed_check: refs }) },
    groups: {
      expectation: [found.agent],
      ...(isComplete && { check_label: [found.agent] }),
      ...(isList && { listed_check: [found.agent] }),
    },
  })
  const left = isComplete ? yield* leftOut(unit, found.agent, { declared, isList }) : []
  const check_ids = Array.from(new Set(left))
  const others = checksOf(found.agent, check_ids)
  yield* load(unit, { checks: { agent_id, check_ids }, rows: { check_label: others, expectation: others } })
  const incidents = new Incidents(unit, input.incidents)
  const relabelled: Array<CheckRef> = []
  let [withdrawn, labels_kept] = [0, 0]
  for (const { check_id, labels, terms } of [...read.success, ...check_ids.map(unlisted)]) {
    const ref = { agent_id, registration_id, check_id }
    const labelling = labelCheck(unit, ref, labels)
    if (labelling === "changed") relabelled.push(ref)
    if (labelling === "kept") labels_kept += 1
    if (terms !== undefined) {
      yield* expectCheck(incidents, { ref, origin: "agent", terms })
      continue
    }
    const expectation = unit.expectations.get(ref)
    if (expectation?.origin === "agent") {
      yield* withdrawExpectation(incidents, expectation)
      withdrawn += 1
    }
    // Of a check that its agent does not expect the policy may, and its rules may compare labels.
    yield* followPolicy(incidents, { agent: found.agent, check_id })
  }
  if (isList) followList(unit, found.agent, declared, asOf)
  if (relabelled.some((ref) => unit.checks.get(ref) !== undefined))
    unit.raise("labels", input.incidents.newEventId)
  yield* evaluateLabelled(unit, relabelled, input.incidents.policy())
  const expected = unit.expectations.group(registration_id).length
  return {
    outcome: "declared",
    counts: { expected, withdrawn, ...(labels_kept > 0 && { labels_kept }), ...warningsOf(request) },
  }
})
