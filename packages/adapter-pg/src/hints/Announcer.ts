import { Clock, Duration, Effect } from "effect"
import type { SqlError } from "effect/sql"
import type { PgClient } from "../client/PgClient.ts"
import { announcement, CHANNEL, DELIVERIES, notify } from "./announcement.ts"

/**
 * The time between two announcements of a process. PostgreSQL commits transactions that notify one
 * after the other, so there must be few of them.
 */
export const ANNOUNCE_EVERY = Duration.seconds(1)

type Announce = (pg: PgClient["Service"]) => Effect.Effect<void, SqlError.SqlError>

/**
 * Announces new deliveries to the other processes, in the transaction that enqueues them, so that a
 * crash after the commit loses no announcement. One announcement covers everything that its process
 * commits within the following second.
 */
export class Announcer {
  readonly #payload: string
  #silentUntilNanos: bigint | undefined

  /** `sender` names this process. */
  constructor(sender: string) {
    this.#payload = announcement(sender, [DELIVERIES])
  }

  /**
   * Runs a transaction, which calls `announce` as its last statement if it enqueued deliveries. A
   * failed transaction has announced nothing, so the next one may announce.
   */
  attempt<A, E>(transaction: (announce: Announce) => Effect.Effect<A, E>): Effect.Effect<A, E> {
    return Clock.clockWith((clock) => {
      let announcedUntil: bigint | undefined
      const announce: Announce = (pg) =>
        Effect.suspend(() => {
          const now = clock.monotonicTimeNanosUnsafe()
          if (this.#silentUntilNanos !== undefined && now < this.#silentUntilNanos) return Effect.void
          this.#silentUntilNanos = announcedUntil = now + Duration.toNanosUnsafe(ANNOUNCE_EVERY)
          return Effect.asVoid(pg.query(notify, [CHANNEL, this.#payload]))
        })
      return Effect.onError(transaction(announce), () =>
        Effect.sync(() => {
          if (this.#silentUntilNanos === announcedUntil) this.#silentUntilNanos = undefined
        }),
      )
    })
  }
}
