import { Effect } from "effect"
import { fieldPath } from "@tocsin/contract/formats/describeIssue"
import * as Instant from "@tocsin/contract/formats/Instant"
import type { PolicyDocument } from "@tocsin/contract/policy/PolicyDocument"
import { HERE } from "@tocsin/contract/watches/places"
import { isPlace } from "../../heart/model/PlaceRecord.ts"
import type { Commits } from "../../kernel/engine/commits/Commits.ts"
import { allPlaces } from "./leavingChecks.ts"

/** Warnings of the agents that watches of a policy name, and that are no places. */
export const placeWarnings = Effect.fnUntraced(function* (
  { transact }: Pick<Commits["Service"], "transact">,
  { watches = [] }: Pick<PolicyDocument, "watches">,
) {
  const named = watches.flatMap(({ from = [] }, n) =>
    from.flatMap((place, m) => (place === HERE ? [] : [{ place, path: ["watches", n, "from", m] }])),
  )
  if (named.length === 0) return []
  const now = yield* Instant.now
  const rows = yield* transact(allPlaces())
  const places = new Set(rows.filter((row) => isPlace(row, now)).map(({ agent_id }) => agent_id))
  return named
    .filter(({ place }) => !places.has(place))
    .map(({ path, place }) => ({
      path: fieldPath(path),
      message: `names ${place}, which is no place: write place: true in that agent's configuration`,
    }))
})
