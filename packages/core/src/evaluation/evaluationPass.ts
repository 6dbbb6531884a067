import { Duration, Effect } from "effect"
import type { IncidentId } from "@tocsin/contract/Identifiers"
import * as Instant from "@tocsin/contract/Instant"
import type { Chore, ChoreServices } from "../engine/commits/Chore.ts"
import type { Commits } from "../engine/commits/Commits.ts"
import { OPEN_INCIDENTS, passes, PENDING_FIRINGS } from "../engine/lists/readPage.ts"
import { commandOf, type Decision } from "../engine/unitOfWork/Decision.ts"
import type { IncidentOptions } from "../incidents/incidentOptions.ts"
import { idlePause } from "../ports/IdlePause.ts"
import { isHeld } from "../model/OutboxRecord.ts"
import { MOST_PARENTS, readParentMarks } from "../firings/parents.ts"
import { isOfAgent, type Policy } from "../policy/compilePolicy.ts"
import type { Storage, StorageError } from "../ports/Storage.ts"
import { FiringTally, EVALUATE_EVERY, evaluateIncidents } from "./evaluateIncidents.ts"

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
  /** Whether one of the silences compares hostnames or labels. */
  readonly silencesReadAgents: boolean
}

const look = commandOf(function* (unit, now, dependencies: Policy["dependencies"]): Decision<Seen> {
  yield { silencesInForce: { endingAfter: Instant.minus(now, RECENTLY) } }
  const { silencesInForce } = unit.searchResults
  const silences = silencesInForce
    .map(({ ends_at, id }) => `${id} ${ends_at}`)
    .toSorted()
    .join()
  const silencesReadAgents = silencesInForce.some(({ matchers }) => matchers.some(isOfAgent))
  return { silences, silencesReadAgents, parents: yield* readParentMarks(unit, dependencies) }
})

const FOLLOWED = "open incidents were evaluated under the policy"

interface PassOptions {
  readonly incidents: IncidentOptions
  /** Rows that a piece reads. */
  readonly limit: number
}

/** The policy and the instant with which a pass begins. */
interface Begun {
  readonly policy: Policy
  readonly at: Instant.Instant
}

interface HeldBegun extends Begun, Seen {
  readonly isAfterChange: boolean
}

/** The beginning of a pass over held firings, if it is due. */
const beginHeld = (
  before: HeldBegun | undefined,
  now: Omit<HeldBegun, "isAfterChange">,
): HeldBegun | undefined => {
  // Holds may have ended.
  const isAfterChange =
    before?.policy !== now.policy || before.silences !== now.silences || before.parents !== now.parents
  if (isAfterChange) return { ...now, isAfterChange }
  const { holdsReadAgents, routesReadAgents } = now.policy
  const isAgain = holdsReadAgents || routesReadAgents || now.silencesReadAgents
  const pause = before.isAfterChange ? RECENTLY : AGAIN_AFTER
  const isDue = (isAgain || before.isAfterChange) && !Instant.isRecent(before.at, pause, now.at)
  return isDue ? { ...now, isAfterChange } : undefined
}

/** Makes a check for a pass that is due: `begin` gives its beginning if it is, given that of the last one. */
const makeDue = <B extends Begun>(
  begin: (before: B | undefined) => Effect.Effect<B | undefined, StorageError>,
): Effect.Effect<boolean, StorageError> => {
  let begun: B | undefined
  return Effect.gen(function* () {
    const now = yield* begin(begun)
    begun = now ?? begun
    return now !== undefined
  })
}

/**
 * One piece of the passes of evaluations; returns whether there may be more (docs/rules.md#evaluation).
 * Incidents with held firings are evaluated under other silences or another policy, after parents ended or
 * changed, and at a start; all open ones under another policy. Where labels and hostnames are compared, that
 * happens again every five minutes.
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
  const see = Effect.fnUntraced(function* ({ at, policy: { dependencies } }: Begun) {
    const { parents, ...seen } = yield* transact(look(dependencies))
    const stale = dependencies?.takesStale
      ? yield* storage.staleAgents(Instant.minus(at, incidents.staleAfter), MOST_PARENTS)
      : []
    return { ...seen, parents: `${parents} ${stale.join()}` }
  })
  const present = Effect.map(Instant.now, (at): Begun => ({ policy: incidents.policy(), at }))
  const held = passes(storage, PENDING_FIRINGS, {
    limit,
    begin: makeDue<HeldBegun>(
      Effect.fnUntraced(function* (before) {
        const now = yield* present
        const seen = yield* see(now)
        return beginHeld(before, { ...now, ...seen })
      }),
    ),
    evaluate: (rows) => evaluate(rows.filter(isHeld).map(({ incident_id }) => incident_id)),
  })
  const open = passes(storage, OPEN_INCIDENTS, {
    limit,
    begin: makeDue<Begun>((before) =>
      Effect.map(present, (now) => {
        const isDue =
          // Another policy may have been in force when the service stopped.
          before === undefined
            ? now.policy.hasRoutes
            : before.policy !== now.policy ||
              (now.policy.routesReadAgents && !Instant.isRecent(before.at, AGAIN_AFTER, now.at))
        return isDue ? now : undefined
      }),
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
