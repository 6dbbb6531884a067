import { type Duration, Effect, Layer, Tracer } from "effect"
import { Storage } from "../../ports/Storage.ts"
import { boundedStorage } from "./boundedStorage.ts"
import { Commits } from "./Commits.ts"

/**
 * The layers between the use cases and a storage, from the outside in. No caller waits longer than
 * `limit`.
 *
 * | layer | adds | its place |
 * |---|---|---|
 * | `Commits` | listeners | outermost: it reports the failures that callers get, time-outs included |
 * | `boundedStorage` | a time limit, and a limit of reads for requests | around the spans: a span shows how long the storage took, not how long a caller waited |
 * | `tracedStorage` | spans | innermost: spans contain no wait of a layer |
 */
export const storageStack = (limit: Duration.Duration): Layer.Layer<Commits | Storage, never, Storage> =>
  Commits.layer.pipe(Layer.provideMerge(boundedStorage(limit)), Layer.provide(tracedStorage))

const spanOf =
  (name: string, attributes: Readonly<Record<string, string>> = {}) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.withFiber(({ cache }) =>
      // A span of an unsampled trace costs nothing.
      cache.span?.sampled === false
        ? effect
        : Effect.withSpan(effect, `Storage.${name}`, { attributes, captureStackTrace: false }),
    )

/** Makes spans of transactions and reads; without a tracer, the storage itself. */
const tracedStorage: Layer.Layer<Storage, never, Storage> = Layer.effect(
  Storage,
  Effect.gen(function* () {
    const storage = yield* Storage
    if ((yield* Tracer.Tracer) === Tracer.nativeTracer) return storage
    return Storage.of({
      ...storage,
      // Until the command is durable, which includes its wait for a group.
      transact: (command) => spanOf("transact")(storage.transact(command)),
      page: (request) => spanOf("page", { "tocsin.list": request.list })(storage.page(request)),
      agent: (agentId) => spanOf("agent")(storage.agent(agentId)),
      check: (agentId, checkId) => spanOf("check")(storage.check(agentId, checkId)),
      incident: (id, limits) => spanOf("incident")(storage.incident(id, limits)),
      counts: (aliveSince) => spanOf("counts")(storage.counts(aliveSince)),
      metricCounts: spanOf("metricCounts")(storage.metricCounts),
    })
  }),
)
