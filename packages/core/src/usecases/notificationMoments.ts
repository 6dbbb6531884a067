import { Effect } from "effect"
import type * as Instant from "../contract/Instant.ts"
import type { OutboxState } from "../contract/Status.ts"
import type { OutboxRecord } from "../notifications/OutboxRecord.ts"
import type { Notifiers } from "../ports/Notifiers.ts"
import type { Storage, StorageError } from "../ports/Storage.ts"
import type { NotificationMoment, HealthFacts } from "../health/HealthFacts.ts"

/** Of the oldest items these are looked at: those of notifiers that other replicas have may be among them. */
const ROWS = 50
const WAITING = ["pending", "sending", "retry"] as const satisfies ReadonlyArray<OutboxState>

/** What became of notifications, as far as it matters to whether they go out. */
export type NotificationMoments = Pick<HealthFacts, "undelivered" | "givenUp">

/** Reads which notifications of `notifiers` wait, the oldest first, and were given up, the latest first: 50 of a state. */
export const notificationMoments = (
  storage: Storage["Service"],
  notifiers: Notifiers["Service"],
): Effect.Effect<NotificationMoments, StorageError> => {
  if (notifiers.size === 0) return Effect.succeed({ undelivered: [], givenUp: [] })
  const momentsOf = momentsIn(storage, (item) => notifiers.has(item.notifier))
  return Effect.all({
    undelivered: Effect.map(
      Effect.forEach(WAITING, (state) =>
        momentsOf({ state, sort: "created_at", direction: "asc" }, (item) => item.counts_from),
      ),
      (moments) => moments.flat(),
    ),
    givenUp: momentsOf({ state: "failed", sort: "updated_at", direction: "desc" }, (item) => item.updated_at),
  })
}

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
  ): Effect.Effect<ReadonlyArray<NotificationMoment>, StorageError> =>
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
