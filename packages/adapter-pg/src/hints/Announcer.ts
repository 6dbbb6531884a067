import { randomUUID } from "node:crypto"
import { Clock, Duration, Effect } from "effect"
import type { SqlError } from "effect/sql"
import type { PgClient } from "../client/PgClient.ts"

/** The channel on which processes announce new deliveries. The payload names the process. */
export const CHANNEL = "tocsin_outbox"

/**
 * The time between two announcements of a process. PostgreSQL commits transactions that notify one
 * after the other, so there must be few of them.
 */
export const ANNOUNCE_EVERY = Duration.seconds(1)

const notify = "SELECT pg_notify($1, $2)"

type Announce = (pg: PgClient["Service"]) => Effect.Effect<void, SqlError.SqlError>

/**
 * Announces new deliveries to the other processes, in the transaction that enqueues them, so that a
 * crash after the commit loses no announcement. One announcement covers everything that its process
 * commits within the following second.
 */
export class Announcer {
  /** Names this process in its announcements. */
  readonly sender = randomUUID()
  #silentUntilNanos: bigint | undefined

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
          return Effect.asVoid(pg.query(notify, [CHANNEL, this.sender]))
        })
      return Effect.onError(transaction(announce), () =>
        Effect.sync(() => {
          if (this.#silentUntilNanos === announcedUntil) this.#silentUntilNanos = undefined
        }),
      )
    })
  }
}
