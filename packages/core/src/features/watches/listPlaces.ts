import { Effect } from "effect"
import type { AgentId, CheckId } from "@tocsin/contract/formats/Identifiers"
import * as Instant from "@tocsin/contract/formats/Instant"
import { HERE, type Place } from "@tocsin/contract/watches/places"
import { isPlace, type PlaceRecord } from "../../heart/model/PlaceRecord.ts"
import { Commits } from "../../kernel/engine/commits/Commits.ts"
import { eachPage } from "../../kernel/engine/lists/readPage.ts"
import { Storage } from "../../kernel/ports/Storage.ts"
import { commandOf, load, loadRow } from "../../kernel/unitOfWork/Decision.ts"
import { placeRef } from "./cutOff.ts"
import { allPlaces, LATE_AFTER } from "./leavingChecks.ts"
import { type PlaceState, wordsOf } from "./placeDecisions.ts"
import { isPlaced, judgedOf, placesOf } from "./watchPlaces.ts"
import { ALL_WATCHES } from "./WatchRecord.ts"

/** The agents that have lost their networks. Changes nothing. */
const cutOffAmong = commandOf(function* (unit, names: ReadonlyArray<AgentId>) {
  yield* load(unit, { openIncidents: names.map(placeRef) })
  return new Set(names.filter((name) => unit.openIncident(placeRef(name)) !== undefined))
})

/** The places of a watch that others than the service decide about; none of any other name. Changes nothing. */
export const placesOfWatch = commandOf(function* (unit, name: CheckId) {
  const watch = yield* loadRow(unit, "watch", name)
  return watch !== undefined && isPlaced(watch) ? placesOf(watch).from : []
})

const stateOf = (row: PlaceRecord | undefined, isCutOff: boolean, now: Instant.Instant): Place["state"] => {
  if (row === undefined) return "never"
  if (now > Instant.plus(row.asked_at, LATE_AFTER)) return "late"
  return isCutOff ? "cut_off" : "ok"
}

/** It ends with what to do. */
const LONGEST_REASON = 500

/** The watches of a place with one more. */
const withWatch = (
  { unknown, watches }: Pick<Place, "unknown" | "watches"> = { watches: 0 },
  state: PlaceState | undefined,
): Pick<Place, "unknown" | "watches"> => {
  const before = unknown && { unknown }
  const why = unknown?.why ?? wordsOf(state?.output ?? "", LONGEST_REASON)
  const after = { watches: (unknown?.watches ?? 0) + 1, why }
  return { watches: watches + 1, ...(state?.status === "unknown" ? { unknown: after } : before) }
}

/** Lists the places of all watches (docs/rules.md#places). */
export const listingPlaces = Effect.fnUntraced(function* (watchAgent: AgentId) {
  const storage = yield* Storage
  const { transact } = yield* Commits
  return Effect.gen(function* () {
    const counts = new Map<AgentId, Pick<Place, "unknown" | "watches">>([[HERE, { watches: 0 }]])
    yield* eachPage(storage, ALL_WATCHES, (rows) => {
      for (const { from, states } of rows.map(judgedOf))
        for (const place of from) counts.set(place, withWatch(counts.get(place), states.get(place)))
    })
    const now = yield* Instant.now
    const asked = new Map(
      (yield* transact(allPlaces())).filter((row) => isPlace(row, now)).map((row) => [row.agent_id, row]),
    )
    const ofHere = counts.get(HERE) ?? { watches: 0 }
    counts.delete(HERE)
    const names = Array.from(new Set([...counts.keys(), ...asked.keys()])).toSorted()
    const lost = yield* transact(cutOffAmong([watchAgent, ...names]))
    const state = lost.has(watchAgent) ? "cut_off" : "ok"
    const here: Place = { place: HERE, state, asked_at: null, ...ofHere }
    return {
      items: [
        here,
        ...names.map((place): Place => {
          const row = asked.get(place)
          return {
            place,
            state: stateOf(row, lost.has(place), now),
            asked_at: row?.asked_at ?? null,
            ...(counts.get(place) ?? { watches: 0 }),
          }
        }),
      ],
    }
  })
})
