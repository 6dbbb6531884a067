import { randomUUID } from "node:crypto"
import { Clock, Duration, Effect } from "effect"
import type { SqlError } from "effect/sql"
import type { PgClient } from "../client/PgClient.ts"
import type { PgStatement } from "../client/PgConnection.ts"

/** The channel on which processes announce what they leave to deliver. The payload names the process. */
export const CHANNEL = "tocsin_outbox"

/**
 * From one announcement of a process to its next. PostgreSQL commits transactions that notify one after the other, so
 * they must stay few, however much is enqueued.
 */
export const ANNOUNCE_EVERY = Duration.seconds(1)

const notify: PgStatement = { name: "announce", text: "SELECT pg_notify($1, $2)" }

type Announce = (pg: PgClient["Service"]) => Effect.Effect<void, SqlError.SqlError>

/**
 * Tells the other processes, within the transaction that leaves something to deliver: a process that dies after its commit
 * has announced it. An announcement also stands for all that its process commits within the following second.
 */
export class Announcer {
  /** Names this process in its announcements. */
  readonly sender = randomUUID()
  #silentUntilNanos: bigint | undefined

  /**
   * Attempts a transaction, which runs `announce` as its last statement where it has something to announce. An attempt that
   * fails has announced nothing, so the next one may.
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
