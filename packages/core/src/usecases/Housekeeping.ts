import { Context, Duration, Effect, Layer } from "effect"
import { removeIdlePending } from "../admission/removeIdlePending.ts"
import * as Instant from "../contract/Instant.ts"
import { NotifierKind } from "../contract/Status.ts"
import { leaveMark, markEvery } from "../liveness/outage.ts"
import { discardUnclaimed } from "../notifications/operatorDecisions.ts"
import { Ids } from "../ports/Ids.ts"
import { Notifiers } from "../ports/Notifiers.ts"
import { Policy } from "../ports/Policy.ts"
import { Storage, type StorageError } from "../ports/Storage.ts"
import { incidentOptions } from "./incidentOptions.ts"
import { sweepSilentAgents } from "./sweepSilentAgents.ts"

/** How long ended rows are kept; an absent time keeps them for ever (decisions §10). */
export interface RetentionOptions {
  readonly history: Duration.Duration | undefined
  readonly incidents: Duration.Duration | undefined
  readonly outbox: Duration.Duration | undefined
  readonly pending: Duration.Duration | undefined
}

/** The times of decisions §10. */
export const defaultRetention: RetentionOptions = {
  history: Duration.days(93),
  incidents: Duration.days(365),
  outbox: Duration.days(30),
  pending: Duration.days(7),
}

/** {@link RetentionOptions}; the defaults unless others are provided. */
export const Retention = Context.Reference<RetentionOptions>("@tocsin/core/usecases/Retention", {
  defaultValue: () => defaultRetention,
})

// A piece is short enough that ingestion beside it waits for milliseconds; between pieces ingestion goes first.
const PIECE = 500
const BETWEEN_PIECES = Duration.millis(20)
// A dead agent opens its incident within 15 s (decisions §5).
const SWEEP_EVERY = Duration.seconds(5)
const PURGE_EVERY = Duration.seconds(10)
const EXPIRE_EVERY = Duration.minutes(10)

/** One kind of work: a bounded piece that tells how much it did, repeated at once while there is more. */
interface Chore {
  readonly name: string
  readonly every: Duration.Duration
  readonly piece: Effect.Effect<number, StorageError>
}

/** Runs what nobody should have to run a job for, for as long as the layer lives; safe with several replicas. */
export const layer: Layer.Layer<never, never, Storage | Ids | Notifiers> = Layer.effectDiscard(
  Effect.gen(function* () {
    for (const chore of yield* chores) yield* Effect.forkScoped(Effect.forever(round(chore)))
  }),
)

const round = ({ name, every, piece }: Chore) =>
  piece.pipe(
    Effect.map((count) => (count < PIECE ? every : BETWEEN_PIECES)),
    // What a mistake makes it throw does not end it either.
    Effect.catchCause((cause) =>
      Effect.as(Effect.logWarning(`${name} failed and is tried again`, cause), every),
    ),
    Effect.flatMap(Effect.sleep),
  )

const chores = Effect.gen(function* () {
  const storage = yield* Storage
  const policy = yield* Policy
  const retention = yield* Retention
  const incidents = incidentOptions(yield* Ids, policy)
  const configured = yield* Notifiers
  const foreign = NotifierKind.literals.filter((kind) => !configured.has(kind))
  const ago = (now: Instant.Instant, time: Duration.Duration | undefined) => time && Instant.minus(now, time)

  const list: ReadonlyArray<Chore> = [
    {
      name: "leaving the service's sign of life",
      every: markEvery(policy),
      piece: Effect.as(storage.transact(leaveMark(policy)), 0),
    },
    {
      name: "looking for dead agents",
      every: SWEEP_EVERY,
      piece: sweepSilentAgents(storage, { policy, incidents, limit: PIECE }),
    },
    { name: "removing the rows of deleted agents", every: PURGE_EVERY, piece: storage.purge(PIECE) },
    {
      name: "removing rows that outlived their retention",
      every: EXPIRE_EVERY,
      piece: Effect.flatMap(Instant.now, (now) =>
        storage.expire(
          {
            history: ago(now, retention.history),
            incidents: ago(now, retention.incidents),
            outbox: ago(now, retention.outbox),
          },
          PIECE,
        ),
      ),
    },
    {
      name: "removing pending agents that went silent",
      every: EXPIRE_EVERY,
      piece:
        retention.pending === undefined
          ? Effect.succeed(0)
          : storage.transact(removeIdlePending({ silence: retention.pending, incidents, limit: PIECE })),
    },
    {
      name: "discarding notifications that no replica sends",
      every: EXPIRE_EVERY,
      piece: storage.transact(discardUnclaimed(foreign, PIECE)),
    },
  ]
  return list
})
