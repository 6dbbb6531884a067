import { Duration, Effect, Stream } from "effect"
import type { IncidentId } from "@tocsin/contract/formats/Identifiers"
import type { NotifierName } from "@tocsin/contract/formats/Status"
import * as Instant from "@tocsin/contract/formats/Instant"
import type { Chore, ChoreServices } from "../../kernel/engine/commits/Chore.ts"
import type { Commits } from "../../kernel/engine/commits/Commits.ts"
import { OPEN_INCIDENTS, passes, PENDING_FIRINGS } from "../../kernel/engine/lists/readPage.ts"
import { readRow } from "../../kernel/unitOfWork/Decision.ts"
import type { IncidentOptions } from "../incidents/incidentOptions.ts"
import { idlePause } from "../../kernel/ports/IdlePause.ts"
import { isHeld } from "../model/OutboxRecord.ts"
import { changesParents, MOST_PARENTS } from "../firings/parents.ts"
import type { Policy } from "../policy/compilePolicy.ts"
import type { FollowedLabels } from "../policy/followLabels.ts"
import type { Storage, StorageError } from "../../kernel/ports/Storage.ts"
import { liveReplicas } from "../replicas/replicaState.ts"
import { NO_TOPICS, topic } from "../../kernel/topics/Topics.ts"
import { countByReceiver, EVALUATE_EVERY, evaluateIncidents } from "./evaluateIncidents.ts"

/**
 * A claim may still be under way that decided by the former silences, policy or labels: held firings are
 * evaluated again this long after a change.
 */
const RECENTLY = Duration.minutes(1)

/**
 * Counts the moments at which other incidents may have become parents, until the scope closes: those of this
 * process, and any change of incidents by another one.
 */
export const countParentChanges = Effect.fnUntraced(function* ({
  commits,
  storage: { remoteChanges },
}: Pick<ChoreServices, "commits" | "storage">) {
  let count = 0
  const countIf = (isChange: boolean) => {
    if (isChange) count += 1
  }
  yield* commits.listen({ committed: ({ incidents }) => countIf(incidents.some(changesParents)) })
  yield* Effect.forkScoped(
    Stream.runForEach(remoteChanges, (topics) =>
      Effect.sync(() => countIf((topics & topic("incidents")) !== NO_TOPICS)),
    ),
  )
  return () => count
})

interface FollowOptions {
  readonly incidents: IncidentOptions
  readonly labels: FollowedLabels
  readonly parentChanges: () => number
}

/** The changes that a process has followed. Nothing of it is stored: a start follows everything. */
interface Followed {
  readonly policy: Policy
  /** Whether it is the first policy since the start. */
  readonly isFirst: boolean
  /** The receivers of the firings of the first passes under the policy; absent once these have ended. */
  due?: Array<NotifierName> | undefined
  /** The changes before the last pass over held firings, and whether it was the one a minute later. */
  held?: { readonly changes: string; readonly at: Instant.Instant; readonly isRepeated: boolean }
  /** The labels and overrides before the last pass over open incidents. */
  open?: string
}

type ReadChanges = (policy: Policy, now: Instant.Instant) => Effect.Effect<string, StorageError>

/** Reads the stamps, and what shows that parents may have changed, as a text to compare. */
const readingChanges = (
  storage: Storage["Service"],
  { transact }: Pick<Commits["Service"], "transact">,
  { incidents, labels, parentChanges }: FollowOptions,
): ReadChanges =>
  Effect.fnUntraced(function* ({ dependencies, routesReadAgents }, now) {
    const silences = yield* transact(readRow("change_stamp", "silences"))
    // Where routes read agents, the pass over open incidents evaluates these.
    const changes: Array<unknown> = [silences?.stamp, routesReadAgents ? "" : yield* labels]
    if (dependencies !== undefined) {
      // A process that died may have changed parents without having announced it.
      const running = liveReplicas(yield* storage.replicas, now).map(({ id }) => id)
      changes.push(parentChanges(), ...running.toSorted())
    }
    if (dependencies?.takesStale === true)
      changes.push(...(yield* storage.staleAgents(Instant.minus(now, incidents.staleAfter), MOST_PARENTS)))
    return changes.join()
  })

/** Whether a pass over held firings is due, since holds may have ended. */
const isHeldDue = Effect.fnUntraced(function* (followed: Followed, readChanges: ReadChanges) {
  const { held: before, policy } = followed
  const at = yield* Instant.now
  const changes = yield* readChanges(policy, at)
  const isRepeated = before?.changes === changes
  if (isRepeated && (before.isRepeated || Instant.isRecent(before.at, RECENTLY, at))) return false
  followed.held = { changes, at, isRepeated }
  return true
})

/** Whether a pass over open incidents is due. Another policy may have been in force when the service stopped. */
const isOpenDue = Effect.fnUntraced(function* (
  followed: Followed,
  { transact }: Pick<Commits["Service"], "transact">,
  { labels }: FollowOptions,
) {
  const { isFirst, open: before, policy } = followed
  const changes: Array<unknown> = [policy.routesReadAgents ? yield* labels : ""]
  if (policy.rotas !== undefined) changes.push((yield* transact(readRow("change_stamp", "overrides")))?.stamp)
  followed.open = changes.join()
  return before === undefined ? !isFirst || policy.hasRoutes : before !== followed.open
})

const FOLLOWED = "open incidents were evaluated under the policy"

/**
 * One piece of the passes of evaluations; returns whether there may be more (docs/rules.md#evaluation).
 * Incidents with held firings are evaluated under other silences or another policy, after parents ended or
 * changed, and at a start; all open ones under another policy, and under rotas when an override is created or ended.
 * Where labels and hostnames are compared, that happens again once these have changed. A change is read before the
 * pass that follows it begins, so one that comes during a pass starts another.
 */
export const evaluationPass = (
  storage: Storage["Service"],
  commits: Pick<Commits["Service"], "transact">,
  options: FollowOptions & { readonly limit: number },
): Effect.Effect<boolean, StorageError> => {
  const { incidents, limit } = options
  let followed: Followed | undefined
  const follow = (): Followed => {
    const policy = incidents.policy()
    if (followed?.policy !== policy) followed = { policy, isFirst: followed === undefined, due: [] }
    return followed
  }
  const evaluate = Effect.fnUntraced(function* (found: ReadonlyArray<IncidentId>) {
    let left: ReadonlyArray<IncidentId> = Array.from(new Set(found))
    while (left.length > 0) {
      const piece = yield* commits.transact(evaluateIncidents(incidents, left))
      for (const receiver of piece.due) followed?.due?.push(receiver)
      left = piece.left
    }
  })
  const readChanges = readingChanges(storage, commits, options)
  const held = passes(storage, PENDING_FIRINGS, {
    limit,
    begin: Effect.suspend(() => isHeldDue(follow(), readChanges)),
    evaluate: (rows) => evaluate(rows.filter(isHeld).map(({ incident_id }) => incident_id)),
  })
  const open = passes(storage, OPEN_INCIDENTS, {
    limit,
    begin: Effect.suspend(() => isOpenDue(follow(), commits, options)),
    evaluate: (rows) => evaluate(rows.map(({ id }) => id)),
  })
  return Effect.gen(function* () {
    const isMoreHeld = yield* held
    const isMoreOpen = yield* open
    if (isMoreHeld || isMoreOpen) return true
    const firings = countByReceiver(followed?.due ?? []).map(({ count, receiver }) => `${receiver} ${count}`)
    if (followed !== undefined) followed.due = undefined
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
