import { Effect } from "effect"
import { EXIT_CODES } from "@tocsin/contract/checks/exitCodes"
import type { AgentId, CheckId } from "@tocsin/contract/formats/Identifiers"
import * as Instant from "@tocsin/contract/formats/Instant"
import { HERE } from "@tocsin/contract/watches/places"
import { LONGEST, PLACE_CHECKS } from "@tocsin/contract/watches/watchOptions"
import { giveTitle } from "../../heart/checks/titleCheck.ts"
import { applyResults } from "../../heart/checks/applyBatch.ts"
import type { CheckResult } from "../../heart/checks/applyEvent.ts"
import type { FollowingPlaces, PlaceResults } from "../../heart/checks/followingPlaces.ts"
import { type IncidentOptions, incidentOptions } from "../../heart/incidents/incidentOptions.ts"
import { Incidents } from "../../heart/incidents/Incidents.ts"
import type { AgentRecord } from "../../heart/model/AgentRecord.ts"
import { PolicyInForce } from "../../heart/policy/PolicyInForce.ts"
import { checksOf } from "../../kernel/model/CheckRef.ts"
import { Hashing } from "../../kernel/ports/Hashing.ts"
import { Ids } from "../../kernel/ports/Ids.ts"
import { RuleSettings } from "../../kernel/ports/RuleSettings.ts"
import { commandOf, type Decision, load, loadRow } from "../../kernel/unitOfWork/Decision.ts"
import { find } from "../../kernel/unitOfWork/Search.ts"
import type { UnitOfWork } from "../../kernel/unitOfWork/UnitOfWork.ts"
import { isBad, isFailure, judgeCutOff, placeRef } from "./cutOff.ts"
import {
  type Around,
  decidePlaces,
  followPlace,
  isWithin,
  lastingFor,
  type PlaceState,
  shownPlaces,
} from "./placeDecisions.ts"
import { checkOf, expectWatch, loadWatchAgent, type WatchAgent } from "./watchAgent.ts"
import { isPlaced, judgedOf, stateIn, withState } from "./watchPlaces.ts"
import { isPaused, type WatchPlaces, type WatchRecord } from "./WatchRecord.ts"

interface Deciding {
  readonly agent: WatchAgent
  readonly incidents: IncidentOptions
}

/** A status of a watch, which becomes a result of its check. */
export interface WatchResult extends Pick<CheckResult, "status" | "duration_ms"> {
  readonly name: CheckId
  readonly output: string
  /** When it was observed; now without. */
  readonly observed_at?: Instant.Instant
}

/** Stores results of watches as those of their checks, and expects further ones. */
export function* reportWatches(
  unit: UnitOfWork,
  given: Deciding,
  agent: AgentRecord,
  results: ReadonlyArray<WatchResult>,
  isGathered = true,
): Decision<void> {
  if (results.length === 0) return
  const { agent_id } = agent
  const check_ids = Array.from(new Set(results.map(({ name }) => name)))
  yield* load(unit, { checks: { agent_id, check_ids }, rows: { expectation: checksOf(agent, check_ids) } })
  const events = results.map((result) => checkResult(result, unit.now))
  yield* applyResults(unit, unit.agents.get(agent_id) ?? agent, {
    incidents: given.incidents,
    isGathered,
    request: { agent_id, events },
  })
  const incidents = new Incidents(unit, given.incidents)
  for (const name of check_ids) {
    const watch = unit.of("watch").get(name)
    if (watch === undefined) continue
    yield* expectWatch(incidents, { agent, watch })
    // A deleted check that comes back is titled again.
    if (watch.title !== undefined) yield* giveTitle(unit, checkOf(agent, watch), watch.title, given.incidents)
  }
}

export const checkResult = (
  { name, observed_at, ...result }: WatchResult,
  now: Instant.Instant,
): CheckResult => ({
  ...result,
  event_id: undefined,
  check_id: name,
  observed_at: observed_at ?? now,
  exit_code: EXIT_CODES[result.status],
  output_truncated: false,
  notifications_enabled: true,
})

/** The facts that decide whether places of these watches count. */
export function* aroundPlaces(
  unit: UnitOfWork,
  watchAgent: AgentId,
  watches: ReadonlyArray<WatchRecord>,
): Decision<Around> {
  const places = Array.from(new Set(watches.flatMap((watch) => watch.places?.from ?? [])))
  const refOf = (place: AgentId) => placeRef(place === HERE ? watchAgent : place)
  const agents = places.filter((place) => place !== HERE)
  const nothing = { checks: [], keys: [], hostnames: [], labelled: [], isAll: false, staleSince: undefined }
  const found =
    agents.length === 0 ? [] : (yield* find("parents", { ...nothing, agents, limit: agents.length })).agents
  yield* load(unit, { openIncidents: places.map(refOf) })
  const accepted = new Set(
    found.filter(({ admission_state }) => admission_state === "accepted").map(({ agent_id }) => agent_id),
  )
  return {
    now: unit.now,
    isAccepted: (place) => accepted.has(place),
    cutOffSince: (place) => (places.includes(place) ? unit.openIncident(refOf(place))?.opened_at : undefined),
  }
}

/** A watch with its places as they are shown. Changes nothing. */
export const readPlaces = commandOf(function* (unit, name: CheckId, watchAgent: AgentId) {
  const watch = yield* loadRow(unit, "watch", name)
  if (watch === undefined) return undefined
  return { watch, places: shownPlaces(judgedOf(watch), yield* aroundPlaces(unit, watchAgent, [watch])) }
})

/** Decides about a watch by its places; its status, if it has one now, becomes a result. */
export const decideWatch = (
  unit: UnitOfWork,
  { duration_ms, name }: Pick<WatchResult, "duration_ms" | "name">,
  around: Around,
): ReadonlyArray<WatchResult> => {
  const watch = unit.of("watch").get(name)
  const decided = watch && decidePlaces(judgedOf(watch), around)
  if (watch?.places === undefined || decided === undefined) return []
  const places = { ...watch.places, decided: { ...decided, at: Number(unit.now) } }
  unit.of("watch").put({ ...watch, places })
  return [{ ...decided, name, duration_ms }]
}

const IDS_KEPT = 50

/** The state of a place after a result; `undefined` if that decides nothing. */
const stateAfter = (
  watch: WatchRecord,
  before: PlaceState | undefined,
  { event, outcome }: PlaceResults["results"][number],
  now: Instant.Instant,
): PlaceState | undefined => {
  const { event_id, observed_at, output = "", status } = event
  const at = Instant.min(observed_at, now)
  const isKnown = outcome === "known_event" || (event_id && before?.ids?.includes(event_id)) === true
  if (isKnown || (before !== undefined && at < before.at)) return undefined
  if (!isWithin(at, lastingFor(watch.every_millis), now)) return undefined
  const result = { at, status, output: output.slice(0, LONGEST.output).toWellFormed() }
  const followed = followPlace(before, result, watch.confirm)
  const hasTurned = before?.counted === undefined || isBad(before.counted) !== isBad(followed.counted)
  const state = { ...followed, counted_at: hasTurned ? now : before.counted_at }
  // Of any other result, the check knows whether it came already.
  if ((observed_at <= now && outcome !== "late") || event_id === undefined) return state
  return { ...state, ids: [...(before?.ids ?? []), event_id].slice(-IDS_KEPT) }
}

/** The watch that a place reports by a check. A part of a name is one, too. */
export const nameOfWatch = (check_id: CheckId): CheckId => check_id.slice(PLACE_CHECKS.length) as CheckId

/** Judges whether a place is cut off before another failure there is confirmed, and while it is. */
function* judgePlace(
  unit: UnitOfWork,
  given: Deciding,
  place: AgentId,
  {
    state,
    watch,
  }: { readonly state: PlaceState; readonly watch: WatchRecord & { readonly places: WatchPlaces } },
): Decision<void> {
  const before = stateIn(watch, place)
  const isConfirmed = isFailure(state.status) && state.counted === state.status
  if (!isConfirmed && unit.openIncident(placeRef(place)) === undefined) return
  const { counted, counted_at, said } = before ?? {}
  unit.of("watch").put(withState(watch, place, { ...state, counted, counted_at, said }))
  yield* judgeCutOff(unit, place, new Incidents(unit, given.incidents), place)
}

/** Decides about watches by the results of agents that are places (docs/rules.md#places). */
const followingPlaces = (given: Deciding): FollowingPlaces => ({
  *prepare(unit, check_ids) {
    const { name } = given.agent
    yield* load(unit, { agents: [name], rows: { integration: [name], watch: check_ids.map(nameOfWatch) } })
  },
  *follow(unit, { place, results }) {
    const table = unit.of("watch")
    const watchOf = ({ check_id }: CheckResult) => {
      const watch = table.get(nameOfWatch(check_id))
      const isOf = watch?.places?.from.includes(place) === true && !isPaused(watch, unit.now)
      return isOf && isPlaced(watch) ? watch : undefined
    }
    const all = results.flatMap(({ event }) => watchOf(event) ?? [])
    if (all.length === 0) return
    const agent = yield* loadWatchAgent(unit, given.agent)
    if (typeof agent === "string") return
    const around = yield* aroundPlaces(unit, given.agent.name, all)
    const decided: Array<WatchResult> = []
    for (const result of results) {
      const watch = watchOf(result.event)
      const state = watch && stateAfter(watch, stateIn(watch, place), result, unit.now)
      if (watch === undefined || state === undefined) continue
      yield* judgePlace(unit, given, place, { watch, state })
      table.put(withState(watch, place, state))
      const { duration_ms } = result.event
      decided.push(...decideWatch(unit, { duration_ms, name: watch.name }, around))
    }
    yield* reportWatches(unit, given, agent, decided, false)
  },
})

/** The part of the ingest of results that decides about watches. */
export const placeFollower = Effect.fnUntraced(function* (agent: WatchAgent) {
  const ids = yield* Ids
  const incidents = incidentOptions(ids, yield* PolicyInForce, yield* RuleSettings, yield* Hashing)
  return followingPlaces({ agent, incidents })
})
