import { Clock, Duration, Effect, Latch, type Scope } from "effect"
import type { SqlError } from "effect/sql"
import type { PgClient } from "../client/PgClient.ts"
import { namesOf, NO_TOPICS, type Topics } from "@tocsin/core/topics/Topics"
import * as RealTime from "../RealTime.ts"

/** The channel on which processes announce deliveries and changed topics. */
export const CHANNEL = "tocsin"

/** Sends an announcement on {@link CHANNEL}. */
const notify = "SELECT pg_notify($1, $2)"

/** Announced like a topic: the sender has enqueued deliveries. */
export const DELIVERIES = "deliveries"

const SEPARATOR = " "

/** A payload: the process that sends it, and what it announces. */
const announcement = (sender: string, names: ReadonlyArray<string>): string =>
  [sender, ...names].join(SEPARATOR)

/** The announcement of a process other than `self`; empty if `self` is the sender. */
export const announcedToOthers = (payload: string, self: string): ReadonlyArray<string> => {
  const [sender, ...names] = payload.split(SEPARATOR)
  return sender === self ? [] : names
}

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

/** With the second between two events of a stream, a change is visible within 2 s. */
const TOPICS_EVERY = Duration.millis(500)

/** How long the end of a process waits for its last announcement. */
const FAREWELL = Duration.seconds(1)

/**
 * Announces to the other processes what this one has changed: after the commits, so that none waits
 * for it, and at most twice a second. A process that dies in between announces nothing.
 */
export class TopicAnnouncer {
  readonly #sender: string
  #unsent = NO_TOPICS
  readonly #latch = Latch.makeUnsafe()

  private constructor(sender: string) {
    this.#sender = sender
  }

  /** Starts to announce as `sender`, until the scope closes. */
  static readonly start = Effect.fnUntraced(function* (
    pg: PgClient["Service"],
    sender: string,
  ): Effect.fn.Return<TopicAnnouncer, never, Scope.Scope> {
    const announcer = new TopicAnnouncer(sender)
    const announce = announcer.#announce(pg)
    yield* Effect.addFinalizer(() => Effect.ignore(Effect.timeoutOption(announce, FAREWELL)))
    const round = Effect.andThen(Effect.ignore(announce), RealTime.pause(TOPICS_EVERY))
    yield* Effect.forkScoped(Effect.forever(Effect.andThen(announcer.#latch.await, round)))
    return announcer
  })

  /** Adds what a command has changed. */
  note(topics: Topics): void {
    if (topics === NO_TOPICS) return
    this.#unsent |= topics
    this.#latch.openUnsafe()
  }

  /** Unsent topics stay for the next time. */
  #announce(pg: PgClient["Service"]) {
    return Effect.suspend(() => {
      const topics = this.#unsent
      if (topics === NO_TOPICS) return Effect.void
      this.#unsent = NO_TOPICS
      this.#latch.closeUnsafe()
      const payload = announcement(this.#sender, namesOf(topics))
      return Effect.onError(pg.query(notify, [CHANNEL, payload]), () => Effect.sync(() => this.note(topics)))
    })
  }
}
