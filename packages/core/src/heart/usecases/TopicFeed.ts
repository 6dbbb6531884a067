import { Context, Duration, Effect, Latch, Layer, Stream } from "effect"
import { RateLimited } from "../admission/AdmissionErrors.ts"
import * as Instant from "@tocsin/contract/formats/Instant"
import { Commits } from "../../kernel/engine/commits/Commits.ts"
import { PolicyInForce } from "../policy/PolicyInForce.ts"
import { Storage } from "../../kernel/ports/Storage.ts"
import { namesOf, NO_TOPICS, topic, type Topics } from "../../kernel/topics/Topics.ts"

/** Each open stream holds a connection, and lists are fetched again for each event. */
const MOST_STREAMS = 100
/** The one that it reads, and one whose loss the server has not seen. */
const MOST_OF_CLIENT = 2
const RETRY_SECONDS = 15
/** At most one event a second: what changes meanwhile is in the next one. */
const REST = Duration.seconds(1)

const tooMany = new RateLimited({
  message: `this process serves ${MOST_STREAMS} streams already; poll instead, and try again in ${RETRY_SECONDS} s`,
  retryAfterSeconds: RETRY_SECONDS,
})

/** The unread topics of one client: a set, so that a slow client costs no more than a quick one. */
class Unread {
  #topics = NO_TOPICS
  readonly #latch = Latch.makeUnsafe()
  readonly #replaced = Latch.makeUnsafe()
  readonly client: string | undefined
  /** Waits until newer streams of the same client have taken its place. */
  readonly replaced = this.#replaced.await
  readonly some = this.#latch.await
  readonly take = Effect.map(Instant.now, (at) => {
    const topics = namesOf(this.#topics)
    this.#topics = NO_TOPICS
    this.#latch.closeUnsafe()
    return { topics, at }
  })

  constructor(client?: string) {
    this.client = client
  }

  replace(): void {
    this.#replaced.openUnsafe()
  }

  add(topics: Topics): void {
    this.#topics |= topics
    this.#latch.openUnsafe()
  }
}

export type UnreadTopics = Pick<Unread, "some" | "take" | "replaced">

/** Changed topics, for live views: names only, of this process and others (docs/rules.md#live-views). */
export class TopicFeed extends Context.Service<TopicFeed>()("@tocsin/core/heart/usecases/TopicFeed", {
  make: Effect.gen(function* () {
    const clients = new Set<Unread>()
    const isChanged = Latch.makeUnsafe()
    let changed = NO_TOPICS
    const raise = (topics: Topics): void => {
      if (clients.size === 0 || topics === NO_TOPICS) return
      changed |= topics
      isChanged.openUnsafe()
    }
    const announce = Effect.sync(() => {
      for (const unread of clients) unread.add(changed)
      changed = NO_TOPICS
      isChanged.closeUnsafe()
    })

    const { listen } = yield* Commits
    yield* listen({ committed: ({ topics }) => raise(topics) })
    const { remoteChanges } = yield* Storage
    yield* Effect.forkScoped(Stream.runForEach(remoteChanges, (topics) => Effect.sync(() => raise(topics))))
    const { replaced } = yield* PolicyInForce
    yield* Effect.forkScoped(Stream.runForEach(replaced, () => Effect.sync(() => raise(topic("policy")))))
    const follow = isChanged.await.pipe(Effect.andThen(announce), Effect.andThen(Effect.sleep(REST)))
    yield* Effect.forkScoped(Effect.forever(follow))

    return {
      /**
       * Topics that change from now on, until the scope closes. Refused beyond 100 at a time. A client that names
       * itself holds two: the oldest ones are replaced, and count no more.
       */
      open: Effect.fnUntraced(function* (client?: string) {
        const held = client === undefined ? [] : Array.from(clients).filter((each) => each.client === client)
        for (const oldest of held.slice(0, 1 - MOST_OF_CLIENT)) {
          oldest.replace()
          clients.delete(oldest)
        }
        if (clients.size >= MOST_STREAMS) return yield* tooMany
        const unread = new Unread(client)
        yield* Effect.acquireRelease(
          Effect.sync(() => clients.add(unread)),
          () => Effect.sync(() => clients.delete(unread)),
        )
        return unread
      }),
    }
  }),
}) {
  static readonly layer = Layer.effect(TopicFeed, TopicFeed.make)
}
