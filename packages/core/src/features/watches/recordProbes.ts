import { confirmResult, softStateOf } from "@tocsin/contract/checks/confirmResult"
import { EXIT_CODES } from "@tocsin/contract/checks/exitCodes"
import type { CheckId } from "@tocsin/contract/formats/Identifiers"
import type * as Instant from "@tocsin/contract/formats/Instant"
import type { CheckStatus } from "@tocsin/contract/formats/Status"
import type { WatchTrial } from "@tocsin/contract/watches/Watches"
import { applyResults } from "../../heart/checks/applyBatch.ts"
import type { BatchInput, CheckResult } from "../../heart/checks/applyEvent.ts"
import { commandOf, type Decision } from "../../kernel/unitOfWork/Decision.ts"
import { load } from "../../kernel/unitOfWork/load.ts"
import type { UnitOfWork } from "../../kernel/unitOfWork/UnitOfWork.ts"
import { Incidents } from "../../heart/incidents/Incidents.ts"
import type { AgentRecord } from "../../heart/model/AgentRecord.ts"
import { checksOf } from "../../kernel/model/CheckRef.ts"
import { isPaused, type WatchRecord } from "./WatchRecord.ts"
import { isBad, judgeCutOff, placeRef } from "./cutOff.ts"
import { expectWatch, loadWatchAgent, type WatchAgent } from "./watchAgent.ts"
import { nextProbeAt } from "./schedule.ts"

/** The result of a probe that was due. */
export interface ProbeResult extends WatchTrial {
  readonly name: CheckId
  /** The `next_probe_at` that it answers. */
  readonly due: Instant.Instant
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
  { result: { output, status }, watch }: Answer,
  now: Instant.Instant,
  sha256: (text: string) => string,
): WatchRecord => ({
  ...watch,
  next_probe_at: nextProbeAt(watch, now, sha256),
  probed_at: now,
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
  const answers = results.flatMap((result): ReadonlyArray<Answer> => {
    const watch = unit.of("watch").get(result.name)
    return watch === undefined || watch.next_probe_at !== result.due || isPaused(watch, unit.now)
      ? []
      : [{ watch, result }]
  })
  for (const answer of answers) unit.of("watch").put(probed(answer, unit.now, input.incidents.sha256))
  const taken = answers.map(({ result }) => result.status)
  const recorded = { taken, dropped: results.length - taken.length }
  if (typeof agent === "string") return recorded
  const isJudged = answers.some(mayCount) || unit.openIncident(ref) !== undefined
  const counts = !isJudged || (yield* judgeCutOff(unit, name, new Incidents(unit, input.incidents)))
  const reported = answers.filter(({ result, watch: { name: id } }) => {
    const watch = unit.of("watch").get(id)
    if (watch === undefined) return false
    const next = confirmed(watch, result.status, !counts, unit.now)
    unit.of("watch").put(next.watch)
    return next.isReported
  })
  yield* report(unit, { agent, reported, input })
  return recorded
})

interface Reported {
  readonly agent: AgentRecord
  readonly reported: ReadonlyArray<Answer>
  readonly input: ProbeResults
}

function* report(unit: UnitOfWork, { agent, input, reported }: Reported): Decision<void> {
  if (reported.length === 0) return
  const { agent_id } = agent
  const check_ids = reported.map(({ watch }) => watch.name)
  yield* load(unit, { checks: { agent_id, check_ids }, rows: { expectation: checksOf(agent, check_ids) } })
  const events = reported.map(({ result, watch }): CheckResult => ({
    event_id: undefined,
    check_id: watch.name,
    observed_at: unit.now,
    status: result.status,
    exit_code: EXIT_CODES[result.status],
    duration_ms: result.duration_ms,
    output: result.output,
    output_truncated: false,
    notifications_enabled: true,
  }))
  yield* applyResults(unit, agent, { ...input, request: { agent_id, events } })
  const incidents = new Incidents(unit, input.incidents)
  for (const { watch } of reported) yield* expectWatch(incidents, { agent, watch })
}
