import { Context, Duration, Effect, Layer } from "effect"
import * as Instant from "../contract/Instant.ts"
import type { OutboxState } from "../contract/Status.ts"
import { leaveMark } from "../liveness/outage.ts"
import type { OutboxRecord } from "../notifications/OutboxRecord.ts"
import { Notifiers } from "../ports/Notifiers.ts"
import { Policy } from "../ports/Policy.ts"
import { Storage, StorageError, type StorageFailure } from "../ports/Storage.ts"
import { judgeWellness, type Wellness } from "../wellness/judgeWellness.ts"
import type { NotificationMoment } from "../wellness/WellnessFacts.ts"

/** A storage that takes longer for next to nothing is not well. */
const PATIENCE = Duration.seconds(5)
/** Of the oldest items these are looked at: those of notifiers that other replicas have may be among them. */
const ROWS = 50
const WAITING = ["pending", "sending", "retry"] as const satisfies ReadonlyArray<OutboxState>

const timedOut = new StorageError({ reason: "timed_out", message: "the storage took too long" })
const mistaken = new StorageError({ reason: "other", message: "the storage failed unexpectedly" })

/** Finds out whether the service does its work. */
export class WellnessCheck extends Context.Service<
  WellnessCheck,
  {
    /**
     * Looks at the storage, by a read and by a committed write, and at the outbox, and judges. Never fails; takes 10 s at most.
     * `isStopping`: whether the service has been told to stop.
     */
    readonly examine: (isStopping: boolean) => Effect.Effect<Wellness>
  }
>()("@tocsin/core/usecases/WellnessCheck") {
  static readonly layer: Layer.Layer<WellnessCheck, never, Storage | Notifiers> = Layer.effect(
    WellnessCheck,
    Effect.gen(function* () {
      const storage = yield* Storage
      const policy = yield* Policy
      const notifiers = yield* Notifiers
      const momentsOf = momentsIn(storage, (item) => notifiers.has(item.notifier))

      const lookAtOutbox = Effect.all({
        undelivered: Effect.map(
          Effect.forEach(WAITING, (state) =>
            momentsOf({ state, sort: "created_at", direction: "asc" }, (item) => item.counts_from),
          ),
          (moments) => moments.flat(),
        ),
        givenUp: momentsOf(
          { state: "failed", sort: "updated_at", direction: "desc" },
          (item) => item.updated_at,
        ),
      })
      const read = Effect.result(
        withinPatience(Effect.andThen(storage.probe, notifiers.size === 0 ? NOTHING : lookAtOutbox)),
      )
      const write = failureOf(withinPatience(storage.transact(leaveMark(policy))))

      return WellnessCheck.of({
        examine: Effect.fn("WellnessCheck.examine")(function* (isStopping) {
          const found = yield* read
          const isRead = found._tag === "Success"
          const readFailure = isRead ? undefined : found.failure.reason
          const writeFailure = isRead ? yield* write : readFailure
          const moments = isRead ? found.success : { undelivered: [], givenUp: [] }
          return judgeWellness({
            now: yield* Instant.now,
            isStopping,
            readFailure,
            writeFailure,
            ...moments,
          })
        }),
      })
    }),
  )
}

type Moments = ReadonlyArray<NotificationMoment>
const NOTHING = Effect.succeed<{ readonly undelivered: Moments; readonly givenUp: Moments }>({
  undelivered: [],
  givenUp: [],
})

const withinPatience = <A>(effect: Effect.Effect<A, StorageError>): Effect.Effect<A, StorageError> =>
  effect.pipe(
    Effect.timeoutOrElse({ duration: PATIENCE, orElse: () => Effect.fail(timedOut) }),
    // A mistake in the storage is for the log; whoever asks wants to know that it does not work.
    Effect.catchDefect((defect) =>
      Effect.andThen(Effect.logError("the storage failed unexpectedly", defect), Effect.fail(mistaken)),
    ),
  )

const failureOf = (effect: Effect.Effect<void, StorageError>): Effect.Effect<StorageFailure | undefined> =>
  Effect.match(effect, { onSuccess: () => undefined, onFailure: ({ reason }) => reason })

interface Which {
  readonly state: OutboxState
  readonly sort: "created_at" | "updated_at"
  readonly direction: "asc" | "desc"
}

/** Reads the first items of a state, of which `isOurs` are ours, with a moment of each. */
const momentsIn =
  (storage: Storage["Service"], isOurs: (item: OutboxRecord) => boolean) =>
  (
    { state, sort, direction }: Which,
    at: (item: OutboxRecord) => Instant.Instant,
  ): Effect.Effect<Moments, StorageError> =>
    Effect.map(
      storage.page({
        list: "outbox",
        filter: { state },
        sort,
        direction,
        from: undefined,
        isBackward: false,
        limit: ROWS,
      }),
      (items) => items.filter(isOurs).map((item) => ({ notifier: item.notifier, at: at(item) })),
    )
