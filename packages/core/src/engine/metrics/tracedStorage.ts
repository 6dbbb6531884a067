import { Effect, Layer, Tracer } from "effect"
import { Storage } from "../../ports/Storage.ts"

const spanOf =
  (name: string) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.withSpan(effect, `Storage.${name}`, { captureStackTrace: false })

/** The same storage, whose transactions and reads are spans where somebody keeps them; the very same where nobody does. */
export const tracedStorage: Layer.Layer<Storage, never, Storage> = Layer.effect(
  Storage,
  Effect.gen(function* () {
    const storage = yield* Storage
    if ((yield* Tracer.Tracer) === Tracer.nativeTracer) return storage
    return Storage.of({
      ...storage,
      // From the request for it until it is durable, the wait for others of its group included.
      transact: (command) => spanOf("transact")(storage.transact(command)),
      page: (request) =>
        Effect.withSpan(storage.page(request), "Storage.page", {
          attributes: { "tocsin.list": request.list },
          captureStackTrace: false,
        }),
      agent: (agentId) => spanOf("agent")(storage.agent(agentId)),
      check: (agentId, checkId) => spanOf("check")(storage.check(agentId, checkId)),
      incident: (id, limits) => spanOf("incident")(storage.incident(id, limits)),
      counts: (aliveSince) => spanOf("counts")(storage.counts(aliveSince)),
      metricCounts: spanOf("metricCounts")(storage.metricCounts),
    })
  }),
)
