import { Duration, Equal, Struct } from "effect"
import type { CheckId } from "@tocsin/contract/formats/Identifiers"
import * as Instant from "@tocsin/contract/formats/Instant"
import { MOST_WATCHES } from "@tocsin/contract/watches/Watches"
import { ValidationError } from "@tocsin/contract/formats/Errors"
import { placeProblem } from "@tocsin/contract/watches/places"
import { evaluateLabelled, labelCheck } from "../../heart/overdue/declareExpectations.ts"
import { placesAfter, placesOf } from "./watchPlaces.ts"
import { recordAudit, type Signature } from "../../heart/audit/recordAudit.ts"
import { removeCheck } from "../../heart/checks/checkActions.ts"
import {
  commandOf,
  type Decision,
  load,
  loadRow,
  loneCommandOf,
  type LoneDecision,
} from "../../kernel/unitOfWork/Decision.ts"
import type { UnitOfWork } from "../../kernel/unitOfWork/UnitOfWork.ts"
import type { IncidentOptions } from "../../heart/incidents/incidentOptions.ts"
import { Incidents } from "../../heart/incidents/Incidents.ts"
import type { AgentRecord } from "../../heart/model/AgentRecord.ts"
import { FOREVER, isPaused, type WatchRecord, type WatchTerms } from "./WatchRecord.ts"
import { keepingSecrets } from "./watchHeaders.ts"
import { giveTitle } from "../../heart/checks/titleCheck.ts"
import { judgeCutOff, placeRef } from "./cutOff.ts"
import { checkOf, expectWatch, loadWatchAgent, unexpectWatch, type WatchAgent } from "./watchAgent.ts"

export interface WatchChange {
  readonly agent: WatchAgent
  readonly incidents: IncidentOptions
  readonly by: Signature
}

export type WatchRefusal =
  | "closed"
  | "name_in_use"
  | "of_policy"
  | "paused"
  | "taken"
  | "too_many"
  | "unknown"

/** Makes a watch, and records it in the audit. */
const newWatch = (
  unit: UnitOfWork,
  terms: WatchTerms,
  origin: WatchRecord["origin"],
  by: Signature,
): WatchRecord => {
  recordAudit(unit, by, "watch.created", [terms.name], { probe: Object.keys(terms.probe).join() })
  const { fails, from, ...columns } = terms
  const watch = {
    ...columns,
    origin,
    places: undefined,
    paused_until: undefined,
    created_at: unit.now,
    created_by: by.actor,
    next_probe_at: unit.now,
    probed_at: undefined,
    status: undefined,
    output: undefined,
    counted: undefined,
    counted_at: undefined,
    against: 0,
  }
  return { ...watch, ...placesAfter(watch, { fails, from }, { isProbeChanged: false, now: unit.now }) }
}

/** Gives the check of a watch its labels. */
function* label(
  unit: UnitOfWork,
  agent: AgentRecord,
  { labels, name }: WatchRecord,
  options: IncidentOptions,
) {
  const { agent_id, registration_id } = agent
  const ref = { agent_id, registration_id, check_id: name }
  yield* load(unit, {
    checks: { agent_id, check_ids: [name] },
    rows: { check_label: [ref], expectation: [ref] },
  })
  if (
    labelCheck(unit, ref, labels, { atMostEvery: Duration.zero }) !== "changed" ||
    unit.checks.get(ref) === undefined
  )
    return
  unit.raise("labels", options.newEventId)
  yield* evaluateLabelled(unit, [ref], options.policy())
}

/** Writes a watch, and expects its results unless it is paused. */
function* put(
  unit: UnitOfWork,
  agent: AgentRecord,
  given: WatchChange & { readonly watch: WatchRecord; readonly before?: WatchRecord | undefined },
) {
  const { watch } = given
  unit.of("watch").put(watch)
  if (watch.labels !== undefined || given.before?.labels !== undefined)
    yield* label(unit, agent, watch, given.incidents)
  const incidents = new Incidents(unit, given.incidents)
  if (isPaused(watch, unit.now)) yield* unexpectWatch(incidents, { agent, watch })
  else yield* expectWatch(incidents, { agent, watch })
  yield* giveTitle(unit, checkOf(agent, watch), watch.title, given.incidents)
  yield* judgeOpenCutOff(unit, given)
  return watch
}

/** Watches that are paused or removed say nothing about the network of the service. */
function* judgeOpenCutOff(unit: UnitOfWork, given: WatchChange): Decision<void> {
  const ref = placeRef(given.agent.name)
  yield* load(unit, { openIncidents: [ref] })
  if (unit.openIncident(ref) !== undefined)
    yield* judgeCutOff(unit, given.agent.name, new Incidents(unit, given.incidents))
}

/** Creates a watch, and with the first one the agent of all. */
export const createWatch = commandOf(function* (
  unit,
  terms: WatchTerms,
  given: WatchChange,
): Decision<WatchRecord | WatchRefusal> {
  const agent = yield* loadWatchAgent(unit, given.agent)
  if (typeof agent === "string") return agent
  yield* load(unit, { groups: { watch: ["all"] } })
  const all = unit.of("watch").group("all")
  if (all.some(({ name }) => name === terms.name)) return "name_in_use"
  if (all.length >= MOST_WATCHES) return "too_many"
  return yield* put(unit, agent, { ...given, watch: newWatch(unit, terms, "operator", given.by) })
})

function* find(unit: UnitOfWork, name: CheckId, given: WatchChange) {
  const agent = yield* loadWatchAgent(unit, given.agent)
  if (typeof agent === "string") return agent
  const watch = yield* loadRow(unit, "watch", name)
  return watch === undefined ? ("unknown" as const) : { agent, watch }
}

/** When the pause of a watch ends, unless it is over. */
const pauseEnd = (watch: WatchRecord, now: Instant.Instant): Instant.Instant | undefined =>
  isPaused(watch, now) ? watch.paused_until : undefined

const auditPause = (unit: UnitOfWork, by: Signature, watch: WatchRecord): void => {
  const { name } = watch
  const end = pauseEnd(watch, unit.now)
  if (end === undefined) return recordAudit(unit, by, "watch.resumed", [name], {})
  const until = end === FOREVER ? undefined : Instant.format(end)
  recordAudit(unit, by, "watch.paused", [name], { until })
}

/** The terms of a watch that are stored. */
const termsOf = (watch: WatchRecord): WatchTerms => ({
  ...Struct.pick(watch, ["name", "title", "every_millis", "confirm", "probe", "headers", "labels"]),
  ...placesOf(watch),
})

const isSame = (a: WatchTerms, b: WatchTerms): boolean =>
  Struct.keys({ ...a, ...b }).every((key) => key === "title" || Equal.equals(a[key], b[key]))

const isProbeChanged = (before: WatchRecord, { headers, probe }: Partial<WatchTerms>): boolean =>
  (probe !== undefined && !Equal.equals(before.probe, probe)) ||
  (headers !== undefined && !Equal.equals(before.headers, headers))

/** The changed terms of a watch, and whether it is paused from now on. */
export interface WatchChanges extends Partial<Omit<WatchTerms, "name">> {
  readonly is_paused?: boolean
}

/** Writes a watch that has changed, which is then probed soon; an unchanged one stays as it is. */
function* change(
  unit: UnitOfWork,
  { agent, watch: before }: { readonly agent: AgentRecord; readonly watch: WatchRecord },
  after: WatchRecord,
  given: WatchChange,
): Decision<WatchRecord> {
  const isRetitled = before.title !== after.title
  const hasSameTerms = isSame(termsOf(before), termsOf(after))
  const isProbedAlike = hasSameTerms && before.paused_until === after.paused_until
  if (isProbedAlike && !isRetitled) return before
  if (pauseEnd(before, unit.now) !== pauseEnd(after, unit.now)) auditPause(unit, given.by, after)
  if (isRetitled || !hasSameTerms) recordAudit(unit, given.by, "watch.changed", [after.name], {})
  const next_probe_at = isProbedAlike ? after.next_probe_at : unit.now
  return yield* put(unit, agent, { ...given, before, watch: { ...after, next_probe_at } })
}

export const changeWatch = commandOf(function* (
  unit,
  name: CheckId,
  { is_paused, ...terms }: WatchChanges,
  given: WatchChange,
): Decision<WatchRecord | WatchRefusal | ValidationError> {
  const found = yield* find(unit, name, given)
  if (typeof found === "string") return found
  const { watch } = found
  if (watch.origin === "policy") return "of_policy"
  const paused_until = is_paused === undefined ? watch.paused_until : is_paused ? FOREVER : undefined
  const { fails, from, ...columns } = { ...terms, ...keepingSecrets(watch, terms) }
  const stated = { ...(from && { from }), ...(fails !== undefined && { fails }) }
  const problem = placeProblem({ name, ...placesOf(watch), ...stated })
  if (problem !== undefined) return new ValidationError({ message: `${problem.path[0]} ${problem.message}` })
  const at = { isProbeChanged: isProbeChanged(watch, columns), now: unit.now }
  const after = { ...watch, ...columns, ...placesAfter(watch, stated, at), paused_until }
  return yield* change(unit, found, after, given)
})

/** Pauses a watch for a time; zero ends a pause. Only an admin ends one that lasts until it is resumed. */
export const pauseWatch = commandOf(function* (
  unit,
  name: CheckId,
  { byAdmin, time }: { readonly time: Duration.Duration; readonly byAdmin: boolean },
  given: WatchChange,
): Decision<WatchRecord | WatchRefusal> {
  const found = yield* find(unit, name, given)
  if (typeof found === "string") return found
  if (!byAdmin && found.watch.paused_until === FOREVER) return "paused"
  const paused_until = Duration.toMillis(time) === 0 ? undefined : Instant.plus(unit.now, time)
  return yield* change(unit, found, { ...found.watch, paused_until }, given)
})

function* remove(unit: UnitOfWork, name: CheckId, given: WatchChange): LoneDecision<void> {
  unit.of("watch").delete(name)
  recordAudit(unit, given.by, "watch.removed", [name], {})
  const check = { agent_id: given.agent.name, check_id: name }
  yield* removeCheck(check, given.incidents, given.by)(unit, unit.now)
  yield* judgeOpenCutOff(unit, given)
}

/** Removes a watch with its check. Returns how many there were. */
export const removeWatch = loneCommandOf(function* (unit, name: CheckId, given: WatchChange) {
  yield* load(unit, { agents: [given.agent.name], rows: { watch: [name] } })
  const watch = unit.of("watch").get(name)
  if (watch === undefined) return 0
  if (watch.origin === "policy") return "of_policy"
  yield* remove(unit, name, given)
  return 1
})

/**
 * Makes the watches of the policy those that it defines. One takes the place of an operator's watch of
 * its name. Returns why none was written, if so.
 */
export const followPolicyWatches = loneCommandOf(function* (
  unit,
  defined: ReadonlyArray<WatchTerms>,
  given: WatchChange,
) {
  yield* load(unit, { agents: [given.agent.name], groups: { watch: ["all"] } })
  const all = unit.of("watch").group("all")
  const known = new Map(all.map((watch) => [watch.name, watch]))
  const names = new Set(defined.map(({ name }) => name))
  for (const { name, origin } of known.values())
    if (origin === "policy" && !names.has(name)) yield* remove(unit, name, given)
  const others = defined.filter((terms) => {
    const watch = known.get(terms.name)
    return watch?.origin !== "policy" || !isSame(termsOf(watch), terms) || watch.title !== terms.title
  })
  if (others.length === 0) return undefined
  const agent = yield* loadWatchAgent(unit, given.agent)
  if (typeof agent === "string") return agent
  for (const terms of others) {
    const before = known.get(terms.name)
    if (before !== undefined) recordAudit(unit, given.by, "watch.changed", [terms.name], {})
    const { fails, from, ...columns } = terms
    const watch =
      before === undefined
        ? newWatch(unit, terms, "policy", given.by)
        : {
            ...before,
            ...columns,
            ...placesAfter(
              before,
              { fails, from },
              { isProbeChanged: isProbeChanged(before, terms), now: unit.now },
            ),
            origin: "policy" as const,
            next_probe_at: isSame(termsOf(before), terms) ? before.next_probe_at : unit.now,
          }
    yield* put(unit, agent, { ...given, before, watch })
  }
  return undefined
})

/** Puts a watch whose header fields are encrypted in the place of the former one, unless its probe has changed. */
export const sealHeaders = commandOf(function* (
  unit,
  former: WatchRecord,
  { headers, probe }: Pick<WatchRecord, "headers" | "probe">,
) {
  const row = yield* loadRow(unit, "watch", former.name)
  if (row !== undefined && isSame(termsOf(row), termsOf(former)))
    unit.of("watch").put({ ...row, headers, probe })
})
