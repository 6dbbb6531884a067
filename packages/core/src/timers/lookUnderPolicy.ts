import { Effect } from "effect"
import type { Commits } from "../engine/commits/Commits.ts"
import type { Position } from "../model/ListDefinitions.ts"
import { OPEN_INCIDENTS, readPiece } from "../engine/lists/readPage.ts"
import type { IncidentOptions } from "../incidents/incidentOptions.ts"
import type { Policy } from "../policy/compilePolicy.ts"
import type { PolicyInForce } from "../policy/PolicyInForce.ts"
import type { Storage, StorageError } from "../ports/Storage.ts"
import { silencesInForce } from "../holds/lookUnderCovers.ts"
import { lookAtIncidents } from "./lookAtIncidents.ts"

interface LookOptions {
  readonly policy: PolicyInForce["Service"]
  readonly incidents: IncidentOptions
  /** Incidents per transaction. */
  readonly limit: number
}

/** What incidents were looked at under. */
interface Under {
  readonly policy: Policy
  /** The silences in force, which withhold timers. */
  readonly silences: string
}

/**
 * One piece of looking at all open incidents under a policy that has come into force, or under other
 * silences; returns whether there is more. At its first call too, if the policy has timers: another
 * one may have been in force when the service stopped.
 */
export const lookUnderPolicy = (
  storage: Storage["Service"],
  commits: Commits["Service"],
  { incidents, limit, policy: { current } }: LookOptions,
): Effect.Effect<boolean, StorageError> => {
  let done: Under | undefined = current().hasTimers ? undefined : { policy: current(), silences: "" }
  let pass: { readonly under: Under; readonly from: Position } | undefined
  return Effect.gen(function* () {
    const policy = current()
    const silences = policy.hasTimers ? yield* commits.transact(silencesInForce) : ""
    const isUnder = (under: Under | undefined) => under?.policy === policy && under.silences === silences
    if (isUnder(done)) return false
    const under: Under = { policy, silences }
    const from = isUnder(pass?.under) ? pass?.from : undefined
    const { next, rows } = yield* readPiece(storage, OPEN_INCIDENTS, { from, limit })
    const ids = rows.map(({ id }) => id)
    yield* commits.transact(lookAtIncidents(incidents, ids))
    if (next === undefined) done = under
    pass = next && { under, from: next }
    return next !== undefined
  })
}
