import { Duration, Effect } from "effect"
import type { IncidentId } from "@tocsin/contract/Identifiers"
import * as Instant from "@tocsin/contract/Instant"
import type { Chore, ChoreServices } from "../engine/commits/Chore.ts"
import type { Commits } from "../engine/commits/Commits.ts"
import { passes } from "../engine/lists/passes.ts"
import { OPEN_INCIDENTS, PENDING_FIRINGS } from "../engine/lists/readPage.ts"
import { commandOf, type Decision } from "../engine/unitOfWork/Decision.ts"
import type { IncidentOptions } from "../incidents/incidentOptions.ts"
import { idlePause } from "../ports/IdlePause.ts"
import { isHeld } from "../model/OutboxRecord.ts"
import { MOST_PARENTS, readParentMarks } from "../firings/readParents.ts"
import type { Policy } from "../policy/compilePolicy.ts"
import type { Storage, StorageError } from "../ports/Storage.ts"
import { FiringTally } from "./countFirings.ts"
import { EVALUATE_EVERY, evaluateIncidents } from "./evaluateIncidents.ts"

/** Labels of agents change unnoticed: what depends on them is evaluated this often. */
const AGAIN_AFTER = Duration.minutes(5)

/**
 * A silence may begin and end between two pieces, and a claim may still be under way that decided by
 * the former silences or policy: held firings are evaluated again this long after a change.
 */
const RECENTLY = Duration.minutes(1)

interface Seen {
  /** The silences that are in force, or were recently, as a text. */
  readonly silences: string
  /** The incidents and stale agents that may be parents, as a text. */
  readonly parents: string
}

const look = commandOf(function* (unit, now, dependencies: Policy["dependencies"]): Decision<Seen> {
  yield { silencesInForce: { endingAfter: Instant.minus(now, RECENTLY) } }
  const silences = unit.searchResults.silencesInForce
    .map(({ ends_at, id }) => `${id} ${ends_at}`)
    .toSorted()
    .join()
  return { silences, parents: yield* readParentMarks(unit, dependencies) }
})

const FOLLOWED = "open incidents were evaluated under the policy"

interface PassOptions {
  readonly incidents: IncidentOptions
  /** Rows that a piece reads. */
  readonly limit: number
}

interface Begun extends Seen {
  readonly policy: Policy
  readonly at: Instant.Instant
  readonly isAfterChange: boolean
}

/** Whether holds may have ended since. */
const isChanged = (before: Begun | undefined, policy: Policy, seen: Seen): boolean =>
  before?.policy !== policy || before.silences !== seen.silences || before.parents !== seen.parents

/** Makes a check for a pass that is due, given what the last one began with. */
const makeDue =
  (
    storage: Pick<Storage["Service"], "staleAgents">,
    transact: Commits["Service"]["transact"],
    incidents: IncidentOptions,
  ) =>
  (
    isDue: (before: Begun | undefined, now: Begun) => boolean,
    dependenciesOf: (policy: Policy) => Policy["dependencies"] = () => undefined,
  ) => {
    let begun: Begun | undefined
    return Effect.gen(function* () {
      const at = yield* Instant.now
      const policy = incidents.policy()
      const dependencies = dependenciesOf(policy)
      const { parents, silences } = yield* transact(look(dependencies))
      const stale = dependencies?.takesStale
        ? yield* storage.staleAgents(Instant.minus(at, incidents.staleAfter), MOST_PARENTS)
        : []
      const seen = { silences, parents: `${parents} ${stale.join()}` }
      const now: Begun = { ...seen, policy, at, isAfterChange: isChanged(begun, policy, seen) }
      if (!isDue(begun, now)) return false
      begun = now
      return true
    })
  }

/**
 * One piece of the passes of evaluations; returns whether there may be more (docs/rules.md#evaluation).
 * Incidents with held firings are evaluated under other silences or another policy, after parents ended or
 * changed, at a start and every five minutes; all open ones under another policy, and where routes compare
 * labels and hostnames.
 */
export const evaluationPass = (
  storage: Storage["Service"],
  { transact }: Pick<Commits["Service"], "transact">,
  { incidents, limit }: PassOptions,
): Effect.Effect<boolean, StorageError> => {
  let followed: Policy | undefined
  // Counts the firings of the first passes under a policy.
  let tally: FiringTally | undefined
  const evaluate = Effect.fnUntraced(function* (found: ReadonlyArray<IncidentId>) {
    let left: ReadonlyArray<IncidentId> = Array.from(new Set(found))
    while (left.length > 0) {
      const piece = yield* transact(evaluateIncidents(incidents, left))
      tally?.add(piece.due)
      left = piece.left
    }
  })
  const due = makeDue(storage, transact, incidents)
  const held = passes(storage, PENDING_FIRINGS, {
    limit,
    begin: due(
      (before, now) => {
        if (before === undefined || now.isAfterChange) return true
        const pause = before.isAfterChange ? RECENTLY : AGAIN_AFTER
        return !Instant.isRecent(before.at, pause, now.at)
      },
      ({ dependencies }) => dependencies,
    ),
    evaluate: (rows) => evaluate(rows.filter(isHeld).map(({ incident_id }) => incident_id)),
  })
  const open = passes(storage, OPEN_INCIDENTS, {
    limit,
    begin: due(
      // Another policy may have been in force when the service stopped.
      (before, now) =>
        before === undefined
          ? now.policy.hasRoutes
          : before.policy !== now.policy ||
            (now.policy.routesReadAgents && !Instant.isRecent(before.at, AGAIN_AFTER, now.at)),
    ),
    evaluate: (rows) => evaluate(rows.map(({ id }) => id)),
  })
  return Effect.gen(function* () {
    if (followed !== incidents.policy()) {
      followed = incidents.policy()
      tally = new FiringTally()
    }
    const isMoreHeld = yield* held
    const isMoreOpen = yield* open
    if (isMoreHeld || isMoreOpen) return true
    const firings = tally?.text ?? ""
    tally = undefined
    if (firings !== "") yield* Effect.annotateLogs(Effect.logInfo(FOLLOWED), { firings })
    return false
  })
}

export const evaluationPassChore = (
  { commits, pieces, storage }: ChoreServices,
  incidents: IncidentOptions,
): Chore => ({
  name: "evaluating incidents under other silences or another policy",
  pause: idlePause(EVALUATE_EVERY),
  piece: evaluationPass(storage, commits, { incidents, limit: pieces.incidents }),
})
