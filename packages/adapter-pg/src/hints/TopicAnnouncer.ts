import { namesOf, NO_TOPICS, type Topics } from "@tocsin/core/topics/Topics"
import { Duration, Effect, Latch, type Scope } from "effect"
import type { PgClient } from "../client/PgClient.ts"
import * as RealTime from "../RealTime.ts"
import { announcement, CHANNEL, notify } from "./announcement.ts"

/** With the second between two events of a stream, a change is visible within 2 s. */
const ANNOUNCE_EVERY = Duration.millis(500)

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
