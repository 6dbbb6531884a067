import { confirmResult, softStateOf } from "@tocsin/contract/checks/confirmResult"
import type { CheckId } from "@tocsin/contract/formats/Identifiers"
import * as Instant from "@tocsin/contract/formats/Instant"
import type { CheckStatus } from "@tocsin/contract/formats/Status"
import type { WatchTrial } from "@tocsin/contract/watches/Watches"
import { HERE } from "@tocsin/contract/watches/places"
import { Duration, Struct } from "effect"
import type { BatchInput } from "../../heart/checks/applyEvent.ts"
import { commandOf, type Decision, load } from "../../kernel/unitOfWork/Decision.ts"
import type { UnitOfWork } from "../../kernel/unitOfWork/UnitOfWork.ts"
import { Incidents } from "../../heart/incidents/Incidents.ts"
import type { AgentRecord } from "../../heart/model/AgentRecord.ts"
import { isPaused, type WatchRecord } from "./WatchRecord.ts"
import { isBad, judgeCutOff, LONGEST_PROBE, placeRef } from "./cutOff.ts"
import { aroundPlaces, checkResult, decideWatch, reportWatches, type WatchResult } from "./decideWatches.ts"
import { followPlace, isWithin } from "./placeDecisions.ts"
import { loadWatchAgent, type WatchAgent } from "./watchAgent.ts"
import { isFromHere, isPlaced, judgedOf, withState, withTurn } from "./watchPlaces.ts"
import { nextProbeAt } from "./schedule.ts"

/** The result of a probe that was due. */
export interface ProbeResult extends WatchTrial {
  readonly name: CheckId
  /** The `next_probe_at` that it answers. */
  readonly due: Instant.Instant
  /** The end of the probe. */
  readonly at: Instant.Instant
}

/** Results of probes, and what is needed to apply them. */
export interface ProbeResults extends Pick<BatchInput, "incidents"> {
  readonly agent: WatchAgent
  readonly results: ReadonlyArray<ProbeResult>
}

/** A result of a watch after confirmation. */
const confirm = ({ against, confirm: limits, counted }: WatchRecord, status: CheckStatus) =>
  confirmResult(softStateOf(counted, against), status, limits)

interface Answer {
  readonly watch: WatchRecord
  readonly result: ProbeResult
}

/** The watch after a probe, before it is decided whether its status counts. */
const probed = (
  { result: { at, output, status }, watch }: Answer,
  sha256: (text: string) => string,
): WatchRecord => ({
  ...watch,
  next_probe_at: nextProbeAt(watch, at, sha256),
  probed_at: at,
  status,
  output,
})

/** The watch once its status counts, is not confirmed, or is held back because the service is cut off. */
const confirmed = (
  watch: WatchRecord,
  status: CheckStatus,
  isHeldBack: boolean,
  now: Instant.Instant,
): { readonly watch: WatchRecord; readonly isReported: boolean } => {
  const { isReported, state } = confirm(watch, status)
  if (isReported && isHeldBack && isBad(status)) {
    // The next failure after the hold counts.
    const against = isBad(watch.counted) ? watch.against : watch.against + 1
    return { watch: { ...watch, against }, isReported: false }
  }
  if (!isReported) return { watch: { ...watch, against: state.against }, isReported }
  const hasTurned = watch.counted === undefined || isBad(watch.counted) !== isBad(status)
  const counted_at = hasTurned ? now : watch.counted_at
  return { watch: { ...watch, against: 0, counted: status, counted_at }, isReported }
}

/** The watch once the service is one of its places: it counts there whatever that decides. */
const followHere = (
  before: WatchRecord,
  watch: WatchRecord,
  { output, status }: ProbeResult,
): WatchRecord => {
  const at = watch.probed_at ?? watch.created_at
  const state = followPlace(judgedOf(before).states.get(HERE), { at, status, output }, watch.confirm)
  const { against, counted } = state
  const hasTurned = before.counted === undefined || isBad(before.counted) !== isBad(counted)
  const next = { ...watch, against, counted, counted_at: hasTurned ? at : watch.counted_at }
  return isPlaced(next) ? withTurn(withState(next, HERE, state), state) : next
}

/** No result waits longer than it shows whether its place is cut off, nor so long that it tells of what is over. */
const LONGEST_WAIT = Duration.minutes(5)
const waitingFor = ({ every_millis }: WatchRecord): Duration.Duration =>
  Duration.sum(Duration.min(Duration.millis(every_millis), LONGEST_WAIT), LONGEST_PROBE)

const mayCount = ({ result, watch }: Answer): boolean =>
  isBad(result.status) && confirm(watch, result.status).isReported

/**
 * Takes results of probes: each that still answers a due probe moves its watch to the next one, and
 * becomes a result of its check once it is confirmed (docs/rules.md#watches).
 */
export const recordProbes = commandOf(function* (unit, input: ProbeResults) {
  const { results } = input
  const { name } = input.agent
  const agent = yield* loadWatchAgent(unit, input.agent)
  const ref = placeRef(name)
  yield* load(unit, { rows: { watch: results.map((one) => one.name) }, openIncidents: [ref] })
  const answers = results.flatMap(({ at: end, ...result }): ReadonlyArray<Answer> => {
    const watch = unit.of("watch").get(result.name)
    const isDue = watch?.next_probe_at === result.due && isFromHere(watch) && !isPaused(watch, unit.now)
    const at = Instant.min(end, unit.now)
    // One that waited too long for the storage tells of what may be over: the watch is due, and probed again.
    if (watch === undefined || !isDue || !isWithin(at, waitingFor(watch), unit.now)) return []
    return [{ watch, result: { ...result, at } }]
  })
  for (const answer of answers) unit.of("watch").put(probed(answer, input.incidents.sha256))
  const taken = answers.map(({ result }) => result.status)
  const recorded = { taken, dropped: results.length - taken.length }
  if (typeof agent === "string") return recorded
  const isJudged = answers.some(mayCount) || unit.openIncident(ref) !== undefined
  const counts = !isJudged || (yield* judgeCutOff(unit, name, new Incidents(unit, input.incidents)))
  const reported = answers.filter(({ result, watch: before }) => {
    const watch = unit.of("watch").get(before.name)
    if (watch === undefined) return false
    if (isPlaced(before)) {
      unit.of("watch").put(followHere(before, watch, result))
      return false
    }
    const next = confirmed(watch, result.status, !counts, unit.now)
    unit.of("watch").put(next.watch)
    return next.isReported
  })
  const placed = answers.filter(({ watch }) => isPlaced(watch))
  yield* reportWatches(unit, input, agent, reported.map(watchResult))
  if (placed.length > 0) yield* decideTogether(unit, input, agent, placed)
  return recorded
})

const watchResult = ({ result, watch: { name } }: Answer): WatchResult => ({
  name,
  observed_at: result.at,
  ...Struct.pick(result, ["duration_ms", "output", "status"]),
})

/** Decides about watches that have further places. */
function* decideTogether(
  unit: UnitOfWork,
  input: ProbeResults,
  agent: AgentRecord,
  answers: ReadonlyArray<Answer>,
): Decision<void> {
  const { agent_id, registration_id } = agent
  const watches = answers.map(({ watch }) => watch)
  const around = yield* aroundPlaces(unit, agent_id, watches)
  const decided = answers.flatMap(({ result }) => decideWatch(unit, result, around))
  yield* reportWatches(unit, input, agent, decided, false)
  const events = answers.map((answer) => checkResult(watchResult(answer), unit.now))
  unit.measure({ agent_id, registration_id, received_at: unit.now, events })
}
