import { Duration, Effect } from "effect"
import type { IncidentId } from "@tocsin/contract/Identifiers"
import type { NotifierName } from "@tocsin/contract/Status"
import * as Instant from "@tocsin/contract/Instant"
import type { Chore, ChoreServices } from "../engine/commits/Chore.ts"
import type { Commits } from "../engine/commits/Commits.ts"
import { OPEN_INCIDENTS, passes, PENDING_FIRINGS } from "../engine/lists/readPage.ts"
import { loneCommandOf, type LoneDecision } from "../unitOfWork/Decision.ts"
import { find } from "../unitOfWork/Search.ts"
import type { IncidentOptions } from "../incidents/incidentOptions.ts"
import { idlePause } from "../ports/IdlePause.ts"
import { isHeld } from "../model/OutboxRecord.ts"
import { MOST_PARENTS, readParentMarks } from "../firings/parents.ts"
import { isOfAgent, type Policy } from "../policy/compilePolicy.ts"
import type { LabelDigest } from "../policy/labelDigest.ts"
import type { Storage, StorageError } from "../ports/Storage.ts"
import { countByReceiver, EVALUATE_EVERY, evaluateIncidents } from "./evaluateIncidents.ts"

/**
 * A silence may begin and end between two pieces, and a claim may still be under way that decided by
 * the former silences, policy or labels: held firings are evaluated again this long after a change.
 */
const RECENTLY = Duration.minutes(1)

/** The silences in force, or recently so, and the incidents that may be parents, as texts to compare. */
const look = loneCommandOf(function* (
  _unit,
  now,
  dependencies: Policy["dependencies"],
): LoneDecision<{
  readonly silences: string
  readonly parents: string
  readonly silencesReadAgents: boolean
}> {
  const found = yield* find("silencesInForce", { endingAfter: Instant.minus(now, RECENTLY) })
  const silences = found.silences.map(({ ends_at, id }) => `${id} ${ends_at}`).toSorted()
  const silencesReadAgents = found.silences.some(({ matchers }) => matchers.some(isOfAgent))
  return {
    silences: silences.join(),
    silencesReadAgents,
    parents: yield* readParentMarks(dependencies),
  }
})

interface FollowOptions {
  readonly incidents: IncidentOptions
  readonly labels: LabelDigest
}

/** Makes a check for a pass over held firings that is due: holds may have ended. */
const makeHeldDue = (
  storage: Storage["Service"],
  transact: Commits["Service"]["transact"],
  { incidents, labels }: FollowOptions,
): Effect.Effect<boolean, StorageError> => {
  const see = Effect.fnUntraced(function* (policy: Policy, at: Instant.Instant) {
    const { dependencies, holdsReadAgents, routesReadAgents } = policy
    const { parents, silences, silencesReadAgents } = yield* transact(look(dependencies))
    // Where routes read agents, the pass over open incidents evaluates these.
    const readsAgents = !routesReadAgents && (holdsReadAgents || silencesReadAgents)
    const stale = dependencies?.takesStale
      ? yield* storage.staleAgents(Instant.minus(at, incidents.staleAfter), MOST_PARENTS)
      : []
    const seen = [silences, parents, stale.join(), readsAgents ? yield* labels : ""].join(" ")
    return { policy, at, seen }
  })
  let lastHeld: (Effect.Success<ReturnType<typeof see>> & { readonly isAfterChange: boolean }) | undefined
  return Effect.gen(function* () {
    const now = yield* see(incidents.policy(), yield* Instant.now)
    const before = lastHeld
    const isAfterChange = before?.policy !== now.policy || before.seen !== now.seen
    if (!isAfterChange && (!before.isAfterChange || Instant.isRecent(before.at, RECENTLY, now.at)))
      return false
    lastHeld = { ...now, isAfterChange }
    return true
  })
}

const FOLLOWED = "open incidents were evaluated under the policy"

/**
 * One piece of the passes of evaluations; returns whether there may be more (docs/rules.md#evaluation).
 * Incidents with held firings are evaluated under other silences or another policy, after parents ended or
 * changed, and at a start; all open ones under another policy. Where labels and hostnames are compared, that
 * happens again once these have changed.
 */
export const evaluationPass = (
  storage: Storage["Service"],
  { transact }: Pick<Commits["Service"], "transact">,
  { incidents, labels, limit }: FollowOptions & { readonly limit: number },
): Effect.Effect<boolean, StorageError> => {
  let followed: Policy | undefined
  // The receivers of the firings of the first passes under a policy.
  let due: Array<NotifierName> | undefined
  const evaluate = Effect.fnUntraced(function* (found: ReadonlyArray<IncidentId>) {
    let left: ReadonlyArray<IncidentId> = Array.from(new Set(found))
    while (left.length > 0) {
      const piece = yield* transact(evaluateIncidents(incidents, left))
      for (const receiver of piece.due) due?.push(receiver)
      left = piece.left
    }
  })
  const held = passes(storage, PENDING_FIRINGS, {
    limit,
    begin: makeHeldDue(storage, transact, { incidents, labels }),
    evaluate: (rows) => evaluate(rows.filter(isHeld).map(({ incident_id }) => incident_id)),
  })
  let lastOpen: { readonly policy: Policy; readonly labels: string } | undefined
  const open = passes(storage, OPEN_INCIDENTS, {
    limit,
    begin: Effect.gen(function* () {
      const policy = incidents.policy()
      const now = { policy, labels: policy.routesReadAgents ? yield* labels : "" }
      const isSame = lastOpen?.policy === policy && lastOpen.labels === now.labels
      // Another policy may have been in force when the service stopped.
      const isDue = lastOpen ? !isSame : policy.hasRoutes
      if (isDue) lastOpen = now
      return isDue
    }),
    evaluate: (rows) => evaluate(rows.map(({ id }) => id)),
  })
  return Effect.gen(function* () {
    if (followed !== incidents.policy()) {
      followed = incidents.policy()
      due = []
    }
    const isMoreHeld = yield* held
    const isMoreOpen = yield* open
    if (isMoreHeld || isMoreOpen) return true
    const firings = countByReceiver(due ?? []).map(({ count, receiver }) => `${receiver} ${count}`)
    due = undefined
    if (firings.length > 0)
      yield* Effect.annotateLogs(Effect.logInfo(FOLLOWED), { firings: firings.join(", ") })
    return false
  })
}

export const evaluationPassChore = (
  { commits, pieces, storage }: ChoreServices,
  options: FollowOptions,
): Chore => ({
  name: "evaluating incidents under other silences or another policy",
  pause: idlePause(EVALUATE_EVERY),
  piece: evaluationPass(storage, commits, { ...options, limit: pieces.incidents }),
})
