import { topicNames } from "@tocsin/contract/liveViews/topicNames"
import type { Storage } from "@tocsin/core/kernel/ports/Storage"
import { namesOf, NO_TOPICS, type Topics, topicsNamed } from "@tocsin/core/kernel/topics/Topics"
import { Clock, Duration, Effect, Latch, type Scope, Stream } from "effect"
import type { SqlError } from "effect/sql"
import * as RealTime from "../RealTime.ts"
import type { PgClient } from "../client/PgClient.ts"

/** The channel on which processes announce deliveries and changed topics. */
export const CHANNEL = "tocsin"

const notify = "SELECT pg_notify($1, $2)"

/** Announced like a topic: the sender has enqueued deliveries. */
export const DELIVERIES = "deliveries"

const SEPARATOR = " "

const payloadOf = (sender: string, names: ReadonlyArray<string>): string => [sender, ...names].join(SEPARATOR)

/** The announcement of a process other than `self`; empty if `self` is the sender. */
const announcedToOthers = (payload: string, self: string): ReadonlyArray<string> => {
  const [sender, ...names] = payload.split(SEPARATOR)
  return sender === self ? [] : names
}

/** PostgreSQL commits transactions that notify one after the other, so there must be few of them. */
const ANNOUNCE_EVERY = Duration.seconds(1)

type Announce = (pg: PgClient["Service"]) => Effect.Effect<void, SqlError.SqlError>

/** Announces deliveries in the transaction that enqueues them, so that a crash loses no announcement. */
export class Announcer {
  readonly #payload: string
  #silentUntilNanos: bigint | undefined

  constructor(sender: string) {
    this.#payload = payloadOf(sender, [DELIVERIES])
  }

  /** Runs a transaction, which calls `announce` as its last statement. A failed one has announced nothing. */
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

/** Announces what this process has changed, after the commits. One that dies in between announces nothing. */
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
      const payload = payloadOf(this.#sender, namesOf(topics))
      return Effect.onError(pg.query(notify, [CHANNEL, payload]), () => Effect.sync(() => this.note(topics)))
    })
  }
}

/**
 * An announcement of deliveries covers the following second, in which its sender may die. After this
 * time everything committed in that second is visible, unless a COMMIT took longer than the difference.
 */
const LOOK_AGAIN_AFTER = Duration.sum(ANNOUNCE_EVERY, Duration.millis(500))

const CONNECT_AGAIN_AFTER = Duration.seconds(1)

const HINT = Stream.make(undefined)

/** Names deliveries when it starts to listen, and all topics when it listens again: it may have missed some. */
const announcedByOthers = (pg: PgClient["Service"], self: string): Stream.Stream<ReadonlyArray<string>> =>
  Stream.suspend(() => {
    let missed: ReadonlyArray<string> = [DELIVERIES]
    const listening = Effect.map(pg.listen(CHANNEL), (payloads) =>
      Stream.concat(
        Stream.sync(() => missed),
        Stream.map(payloads, (payload) => announcedToOthers(payload, self)),
      ),
    )
    return Stream.unwrap(listening).pipe(
      Stream.catch((error) =>
        Stream.fromEffectDrain(
          Effect.logDebug("PostgreSQL's notifications are not heard; another try follows", error),
        ),
      ),
      Stream.ensuring(
        Effect.sync(() => {
          missed = [DELIVERIES, ...topicNames]
        }),
      ),
      Stream.concat(Stream.fromEffectDrain(RealTime.pause(CONNECT_AGAIN_AFTER))),
      Stream.forever,
    )
  })

/** Hints on one connection. Deliveries are hinted at again when their sender may announce again. */
export const remoteWakeups = Effect.fnUntraced(function* (
  pg: PgClient["Service"],
  self: string,
): Effect.fn.Return<Pick<Storage["Service"], "hints" | "remoteChanges">, never, Scope.Scope> {
  // No announcement may be dropped here, as a sliding buffer would: topics name what has changed.
  const announced = yield* Stream.share(announcedByOthers(pg, self), {
    capacity: 64,
    strategy: "suspend",
    replay: 1,
  })
  const hints = announced.pipe(
    Stream.filter((names) => names.includes(DELIVERIES)),
    Stream.switchMap(() => Stream.concat(HINT, Stream.fromEffect(Effect.sleep(LOOK_AGAIN_AFTER)))),
  )
  return {
    hints: yield* Stream.share(hints, { capacity: 1, strategy: "sliding", replay: 1 }),
    remoteChanges: announced.pipe(
      Stream.map(topicsNamed),
      Stream.filter((topics) => topics !== NO_TOPICS),
    ),
  }
})
