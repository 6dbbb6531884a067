import type { TopicsChanged as Changes } from "@tocsin/client/Resources"
import type { RateLimited } from "@tocsin/core/admission/AdmissionErrors"
import * as Instant from "@tocsin/contract/Instant"
import { topicNames } from "@tocsin/contract/Topics"
import { Readiness } from "@tocsin/core/health/Readiness"
import { TopicFeed, type UnreadTopics } from "@tocsin/core/usecases/TopicFeed"
import { Cause, Context, Effect, Scope } from "effect"

/**
 * The topics to fetch again: every topic first, then the changed ones. The first take counts as a
 * stream of this process, until the scope closes. Done when the monitor closes.
 */
export const topicChanges = (
  services: Context.Context<TopicFeed | Readiness>,
): Effect.Effect<Effect.Effect<Changes, Cause.Done | RateLimited>, never, Scope.Scope> =>
  Effect.map(Effect.scope, (scope) => {
    let unread: UnreadTopics | undefined
    const begin = Effect.gen(function* () {
      const { open } = Context.get(services, TopicFeed)
      unread = yield* Scope.provide(open, scope)
      return { topics: topicNames, at: yield* Instant.now }
    })
    const take = Effect.suspend(() =>
      unread === undefined ? begin : Effect.andThen(unread.some, unread.take),
    )
    const closing = Effect.andThen(Context.get(services, Readiness).draining, Cause.done())
    return Effect.raceFirst(
      closing,
      Effect.map(take, ({ topics, at }): Changes => ({ topics, at: Instant.format(at) })),
    ).pipe(Effect.provide(services))
  })
