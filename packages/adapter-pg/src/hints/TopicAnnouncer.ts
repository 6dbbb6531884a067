import { randomUUID } from "node:crypto"
import { namesOf, NO_TOPICS, type Topics, topicsNamed } from "@tocsin/core/topics/Topics"
import { Duration, Effect, Latch, type Scope } from "effect"
import type { PgClient } from "../client/PgClient.ts"
import * as RealTime from "../RealTime.ts"

/** The channel on which processes announce what they have changed. */
export const TOPICS_CHANNEL = "tocsin_topics"

/** With the second between two events of a stream, a change is visible within 2 s. */
const ANNOUNCE_EVERY = Duration.millis(500)

/** How long the end of a process waits for its last announcement. */
const FAREWELL = Duration.seconds(1)

const notify = "SELECT pg_notify($1, $2)"

const SEPARATOR = " "

/** The topics of an announcement by another process than `self`. */
export const topicsAnnounced = (payload: string, self: string): Topics => {
  const [sender, ...names] = payload.split(SEPARATOR)
  return sender === self ? NO_TOPICS : topicsNamed(names)
}

/**
 * Announces to the other processes what this one has changed: after the commits, so that none waits
 * for it, and at most twice a second. A process that dies in between announces nothing.
 */
export class TopicAnnouncer {
  /** Names this process in its announcements. */
  readonly sender = randomUUID()
  #unsent = NO_TOPICS
  readonly #latch = Latch.makeUnsafe()

  /** Starts to announce, until the scope closes. */
  static readonly start = Effect.fnUntraced(function* (
    pg: PgClient["Service"],
  ): Effect.fn.Return<TopicAnnouncer, never, Scope.Scope> {
    const announcer = new TopicAnnouncer()
    const announce = announcer.#announce(pg)
    yield* Effect.addFinalizer(() => Effect.ignore(Effect.timeoutOption(announce, FAREWELL)))
    const round = Effect.andThen(Effect.ignore(announce), RealTime.pause(ANNOUNCE_EVERY))
    yield* Effect.forkScoped(Effect.forever(Effect.andThen(announcer.#latch.await, round)))
    return announcer
  })

  /** Adds what a command has changed. */
  note(topics: Topics): void {
    if (topics === NO_TOPICS) return
    this.#unsent |= topics
    this.#latch.openUnsafe()
  }

  /** What is not sent is kept for the next time. */
  #announce(pg: PgClient["Service"]) {
    return Effect.suspend(() => {
      const topics = this.#unsent
      if (topics === NO_TOPICS) return Effect.void
      this.#unsent = NO_TOPICS
      this.#latch.closeUnsafe()
      const payload = [this.sender, ...namesOf(topics)].join(SEPARATOR)
      return Effect.onError(pg.query(notify, [TOPICS_CHANNEL, payload]), () =>
        Effect.sync(() => this.note(topics)),
      )
    })
  }
}
