import { Duration, Effect } from "effect"
import type { AgentId, CheckId } from "@tocsin/contract/formats/Identifiers"
import * as Instant from "@tocsin/contract/formats/Instant"
import { removeFound } from "../../heart/checks/checkActions.ts"
import type { IncidentOptions } from "../../heart/incidents/incidentOptions.ts"
import { Incidents } from "../../heart/incidents/Incidents.ts"
import { isPlace } from "../../heart/model/PlaceRecord.ts"
import type { Chore, ChoreServices } from "../../kernel/engine/commits/Chore.ts"
import { ALL_CHECKS, eachPage } from "../../kernel/engine/lists/readPage.ts"
import { checksOf } from "../../kernel/model/CheckRef.ts"
import { SYSTEM } from "../../kernel/ports/CurrentOperator.ts"
import { idlePause } from "../../kernel/ports/IdlePause.ts"
import { commandOf, load } from "../../kernel/unitOfWork/Decision.ts"
import { endCutOff, placeRef } from "./cutOff.ts"
import { nameOfWatch } from "./decideWatches.ts"

const EVERY = Duration.seconds(15)
/** An agent asks every 30 s. One that is late is not heard, so nothing says that it is cut off. */
export const LATE_AFTER = Duration.seconds(90)
/** Afterwards no result of the former watch is on its way. */
const LEAVES_AFTER = Duration.minutes(1)

/** All agents that have asked. Changes nothing. */
export const allPlaces = commandOf(function* (unit) {
  yield* load(unit, { groups: { place: ["all"] } })
  return unit.of("place").group("all")
})

/** Deletes checks of a place whose watches have long been gone from it. */
const sweep = commandOf(function* (
  unit,
  { agent_id, check_ids }: { readonly agent_id: AgentId; readonly check_ids: ReadonlyArray<CheckId> },
  options: IncidentOptions,
) {
  yield* load(unit, { agents: [agent_id], checks: { agent_id, check_ids } })
  yield* load(unit, { rows: { place: [agent_id], watch: check_ids.map(nameOfWatch) } })
  const [agent, row] = [unit.agents.get(agent_id), unit.of("place").get(agent_id)]
  if (row === undefined) return
  if (agent === undefined || !isPlace(row, unit.now)) return unit.of("place").delete(agent_id)
  const incidents = new Incidents(unit, options)
  if (unit.now > Instant.plus(row.asked_at, LATE_AFTER)) {
    yield* load(unit, { openIncidents: [placeRef(agent_id)] })
    yield* endCutOff(unit, agent_id, incidents)
  }
  const leaving: Record<CheckId, number> = {}
  for (const ref of checksOf(agent, check_ids)) {
    const { check_id } = ref
    const watch = unit.of("watch").get(nameOfWatch(check_id))
    if (watch?.places?.from.includes(agent_id)) continue
    const since = row.leaving[check_id] ?? Number(unit.now)
    if (Instant.plus(Instant.fromMicros(BigInt(since)), LEAVES_AFTER) > unit.now) leaving[check_id] = since
    else yield* removeFound(incidents, unit.agents.get(agent_id) ?? agent, ref, SYSTEM)
  }
  if (JSON.stringify(leaving) !== JSON.stringify(row.leaving)) unit.of("place").put({ ...row, leaving })
})

/** Deletes the checks by which agents reported watches that are theirs no longer (docs/rules.md#places). */
export const leavingChecksChore = (
  { commits, storage }: ChoreServices,
  incidents: IncidentOptions,
): Chore => ({
  name: "deleting checks of former watches of places",
  pause: idlePause(EVERY),
  piece: Effect.gen(function* () {
    for (const { agent_id } of yield* commits.transact(allPlaces())) {
      const check_ids: Array<CheckId> = []
      yield* eachPage(storage, { ...ALL_CHECKS, filter: { agent_id } }, (rows) => {
        for (const { check_id, is_of_place } of rows) if (is_of_place) check_ids.push(check_id)
      })
      yield* commits.transact(sweep({ agent_id, check_ids }, incidents))
    }
    return false
  }),
})
