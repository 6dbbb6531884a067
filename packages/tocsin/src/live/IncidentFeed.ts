import type { HeldIncident, Incident } from "@tocsin/client/Resources"
import { type Incident as CoreIncident, Incident as IncidentSchema } from "@tocsin/contract/v1/Resources"
import { Commits } from "@tocsin/core/kernel/engine/commits/Commits"
import { type IncidentRecord } from "@tocsin/core/heart/model/IncidentRecord"
import { toResolution } from "@tocsin/core/heart/notifications/resolutionText"
import { toIncident } from "@tocsin/core/heart/usecases/shownIncidents"
import { type Cause, Context, Effect, Layer, Queue, Schema, type Scope, Stream } from "effect"

/** One committed change of an incident, as plain data. */
export interface IncidentNews {
  /** `changed`: an open incident has another severity, summary or members. */
  readonly type: "opened" | "changed" | "resolved"
  /** The incident as that change left it. */
  readonly incident: Incident & Pick<HeldIncident, "resolution">
  /** How many changes were dropped before this one, because the subscriber was too slow. */
  readonly missed: number
}

/** One committed change of an incident. */
export interface IncidentChange extends Omit<IncidentNews, "incident"> {
  /** The incident as that transaction left it. */
  readonly incident: IncidentRecord
}

/** A change before one subscriber takes it. */
interface Numbered extends Omit<IncidentChange, "missed"> {
  /** How many came before it. */
  readonly number: number
}

const isSame = (a: IncidentRecord, b: IncidentRecord): boolean =>
  a.severity === b.severity &&
  a.summary === b.summary &&
  a.member_changes === b.member_changes &&
  a.agent_id === b.agent_id &&
  a.check_id === b.check_id

/** The change from `before` to `after`; none if no reader can see a difference. */
const incidentChangeOf = (
  before: IncidentRecord | undefined,
  after: IncidentRecord,
): Omit<Numbered, "number"> | undefined => {
  if (before === undefined) return { type: after.state === "open" ? "opened" : "resolved", incident: after }
  if (after.state === "resolved")
    return before.state === "open" ? { type: "resolved", incident: after } : undefined
  return isSame(before, after) ? undefined : { type: "changed", incident: after }
}

const encode: (incident: CoreIncident) => Incident = Schema.encodeSync(IncidentSchema)

/** A change as plain data. */
export const toIncidentNews = ({ type, incident, missed }: IncidentChange): IncidentNews => ({
  type,
  incident: { ...encode(toIncident(incident)), resolution: toResolution(incident) },
  missed,
})

/** The oldest give way, so that a slow subscriber delays no commit. Some hundred kilobytes for each at most. */
const CHANGES_KEPT = 1_000

/**
 * Incident changes that this process commits, for a live view: each at most once, in commit order.
 * It has none from before the subscription and none of other processes. For a subscriber more than
 * 1,000 changes behind, the oldest are dropped and counted. A notifier misses none: the outbox
 * delivers at least once.
 */
export class IncidentFeed extends Context.Service<
  IncidentFeed,
  {
    /**
     * Subscribes from now on until the scope closes. `take` waits for the next change; it is done once the
     * service has stopped and no change is left.
     */
    readonly subscribe: Effect.Effect<
      { readonly take: Effect.Effect<IncidentChange, Cause.Done> },
      never,
      Scope.Scope
    >
    /** The same as a stream: each run subscribes when it begins. */
    readonly changes: Stream.Stream<IncidentChange>
  }
>()("tocsin/live/IncidentFeed") {
  static readonly layer: Layer.Layer<IncidentFeed, never, Commits> = Layer.effect(
    IncidentFeed,
    Effect.gen(function* () {
      const { listen } = yield* Commits
      const subscribers = new Set<Queue.Queue<Numbered, Cause.Done>>()
      let committed = 0
      const subscribe = Effect.gen(function* () {
        const changes = yield* Effect.acquireRelease(
          Queue.sliding<Numbered, Cause.Done>(CHANGES_KEPT),
          (queue) => Effect.sync(() => subscribers.delete(queue)),
        )
        subscribers.add(changes)
        let next = committed
        const take = Effect.map(Queue.take(changes), ({ number, ...change }) => {
          const missed = number - next
          next = number + 1
          return { ...change, missed }
        })
        return { take }
      })
      yield* Effect.addFinalizer(() =>
        Effect.sync(() => {
          for (const changes of subscribers) Queue.endUnsafe(changes)
        }),
      )
      yield* listen({
        committed: ({ incidents }) => {
          if (subscribers.size === 0) return
          for (const { before, after } of incidents) {
            const change = after && incidentChangeOf(before, after)
            if (change === undefined) continue
            const numbered = { ...change, number: committed++ }
            for (const changes of subscribers) Queue.offerUnsafe(changes, numbered)
          }
        },
      })
      return IncidentFeed.of({
        subscribe,
        changes: Stream.unwrap(Effect.map(subscribe, ({ take }) => Stream.fromEffectRepeat(take))),
      })
    }),
  )
}
