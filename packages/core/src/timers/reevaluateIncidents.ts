import { Effect } from "effect"
import type { Commits } from "../engine/commits/Commits.ts"
import { passes } from "../engine/lists/passes.ts"
import { OPEN_INCIDENTS } from "../engine/lists/readPage.ts"
import type { IncidentOptions } from "../incidents/incidentOptions.ts"
import type { IncidentRecord } from "../model/IncidentRecord.ts"
import type { Policy } from "../policy/compilePolicy.ts"
import type { PolicyInForce } from "../policy/PolicyInForce.ts"
import type { Storage, StorageError } from "../ports/Storage.ts"
import { silencesInForce } from "../holds/reevaluateHeld.ts"
import { evaluateIncidents } from "./evaluateIncidents.ts"

interface LookOptions {
  readonly policy: PolicyInForce["Service"]
  readonly incidents: IncidentOptions
  /** Incidents per transaction. */
  readonly limit: number
}

/**
 * One piece of looking at all open incidents under a policy that has come into force, or under other
 * silences; returns whether there may be more. At its first call too, if the policy has timers: another
 * one may have been in force when the service stopped.
 */
export const reevaluateIncidents = (
  storage: Storage["Service"],
  commits: Commits["Service"],
  { incidents, limit, policy: { current } }: LookOptions,
): Effect.Effect<boolean, StorageError> => {
  const latest = current()
  let under: readonly [policy: Policy, silences: string] | undefined = latest.hasTimers
    ? undefined
    : [latest, ""]
  const begin = Effect.gen(function* () {
    const policy = current()
    // Silences withhold timers.
    const silences = policy.hasTimers ? yield* commits.transact(silencesInForce) : ""
    if (under?.[0] === policy && under[1] === silences) return false
    under = [policy, silences]
    return true
  })
  const evaluate = (rows: ReadonlyArray<IncidentRecord>) =>
    commits.transact(
      evaluateIncidents(
        incidents,
        rows.map(({ id }) => id),
      ),
    )
  return passes(storage, OPEN_INCIDENTS, { begin, limit, evaluate })
}
