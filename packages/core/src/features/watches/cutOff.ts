import { Duration } from "effect"
import { type AgentId, IncidentKey } from "@tocsin/contract/formats/Identifiers"
import * as Instant from "@tocsin/contract/formats/Instant"
import type { CheckStatus } from "@tocsin/contract/formats/Status"
import { HERE } from "@tocsin/contract/watches/places"
import { move, stateTable } from "@tocsin/contract/formats/TransitionTable"
import { type Decision, load } from "../../kernel/unitOfWork/Decision.ts"
import type { UnitOfWork } from "../../kernel/unitOfWork/UnitOfWork.ts"
import type { Incidents } from "../../heart/incidents/Incidents.ts"
import type { IncidentRecord, IncidentRef } from "../../heart/model/IncidentRecord.ts"
import { HEARTBEAT } from "../../heart/model/MemberRecord.ts"
import { HOLD_FOR } from "./placeDecisions.ts"
import { stateIn } from "./watchPlaces.ts"
import { isPaused, type WatchRecord } from "./WatchRecord.ts"

/**
 * Whether the service itself has lost its network (docs/rules.md#cut-off). The state is that of the open
 * incident AGENT/@place: none, one that is younger than two minutes, or an older one.
 */
export const CutOffTransitions = stateTable({
  connected: {
    "most_failed -> holding":
      "a result that is not ok would count, while more than 80 % of the watches that were well, and at least five, failed their latest probe | the incident AGENT/@place opens (critical); the result does not count",
  },
  holding: {
    "most_failed -> holding": "as above | the result does not count",
    "time_over -> lost": "two minutes have passed | results count again",
    "some_answered -> connected": "80 % of them or fewer than five fail | the incident resolves",
  },
  lost: {
    "most_failed -> lost": "as above | the result counts",
    "some_answered -> connected": "80 % of them or fewer than five fail | the incident resolves",
  },
})

const FEWEST = 5
const SHARE = 0.8
/** A probe takes no longer, so a watch that is this late was not probed in its last period. */
export const LONGEST_PROBE = Duration.seconds(30)

type State = (typeof CutOffTransitions)[number]["from"]

/** The incident that is open while the service is cut off; no key of an event meets its key. */
export const placeRef = (name: AgentId): IncidentRef => ({
  kind: "automatic",
  incident_key: IncidentKey.make(`${name}/@place`),
})

export const isBad = (status: CheckStatus | undefined): boolean => status !== undefined && status !== "ok"

/** Whether a result is bad, and says something about its target. */
export const isFailure = (status: CheckStatus | undefined): boolean => isBad(status) && status !== "unknown"

/** The latest result of a watch at one place. */
type Latest = Pick<WatchRecord, "counted" | "counted_at" | "every_millis" | "probed_at" | "status">

const latestAt = (watch: WatchRecord, place: AgentId): ReadonlyArray<Latest> => {
  if (place === HERE) return [watch]
  const state = stateIn(watch, place)
  if (state === undefined) return []
  const { at: probed_at, counted, counted_at, status } = state
  return [{ counted, counted_at, every_millis: watch.every_millis, probed_at, status }]
}

const isProbedLately = ({ every_millis, probed_at }: Latest, now: Instant.Instant): boolean => {
  const period = Duration.sum(Duration.millis(every_millis), LONGEST_PROBE)
  return probed_at !== undefined && probed_at > Instant.minus(now, period)
}

/** Whether a watch was well, or has failed only since a moment. */
const wasWell = ({ counted, counted_at }: Latest, since: Instant.Instant | undefined): boolean =>
  !isBad(counted) || (since !== undefined && counted_at !== undefined && counted_at >= since)

/** Whether so many watches fail that their place may be cut off: since when, if it is already. */
const haveMostFailed = (
  watches: ReadonlyArray<Latest>,
  since: Instant.Instant | undefined,
  now: Instant.Instant,
): boolean => {
  const probed = watches.filter((watch) => isProbedLately(watch, now) && wasWell(watch, since))
  const failed = probed.filter(({ status }) => isFailure(status)).length
  return failed >= FEWEST && failed > SHARE * probed.length
}

const cutOffState = (open: Pick<IncidentRecord, "opened_at"> | undefined, now: Instant.Instant): State => {
  if (open === undefined) return "connected"
  return Instant.isRecent(open.opened_at, HOLD_FOR, now) ? "holding" : "lost"
}

/** A place is no longer cut off. */
export function* endCutOff(unit: UnitOfWork, name: AgentId, incidents: Incidents): Decision<void> {
  const open = unit.openIncident(placeRef(name))
  if (open === undefined) return
  yield* incidents.leave(
    { incident_id: open.id, agent_id: name, check_id: HEARTBEAT },
    { by: "event", notify: true, resolution: { reason: "recovered" } },
  )
}

/**
 * Decides whether a place is cut off, by all watches with their latest results there, and opens or resolves
 * its incident: the service, or an agent of its name. Returns whether a result that is not ok counts.
 */
export function* judgeCutOff(
  unit: UnitOfWork,
  name: AgentId,
  incidents: Incidents,
  place = HERE,
): Decision<boolean> {
  const ref = placeRef(name)
  yield* load(unit, { groups: { watch: ["all"] }, openIncidents: [ref] })
  const watches = unit
    .of("watch")
    .group("all")
    .filter((watch) => !isPaused(watch, unit.now))
    .flatMap((watch) => latestAt(watch, place))
  const open = unit.openIncident(ref)
  const state = cutOffState(open, unit.now)
  const most = haveMostFailed(watches, open?.opened_at, unit.now)
  if (!most) {
    if (open !== undefined && state !== "connected") {
      move(CutOffTransitions, state, "some_answered")
      yield* endCutOff(unit, name, incidents)
    }
    return true
  }
  const next = move(CutOffTransitions, state, "most_failed")
  if (state === "connected") {
    const [severity, of] =
      place === HERE ? (["critical", "the service itself"] as const) : (["warning", name] as const)
    const summary = `most watches fail at once: the network of ${of} may be down`
    // The member is the agent as a whole, as in its heartbeat incident.
    const member = { agent_id: name, check_id: HEARTBEAT, severity, summary }
    yield* incidents.join(ref, { member, notify: true })
  }
  return next !== "holding"
}
