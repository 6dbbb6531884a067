import { Context, Effect, Layer } from "effect"
import type { HttpClient } from "effect/http"
import type { Calls } from "./calls/Calls.ts"
import { clientsOf } from "./calls/definition.ts"
import { makeCalls } from "./calls/makeCalls.ts"
import type { ClientOptions } from "./options/ClientOptions.ts"
import { readOptions } from "./options/readOptions.ts"
import { type ClientFailure, isTocsinClientError } from "./TocsinClientError.ts"

/** Reading throws: options are mistakes of the program's, and {@link make} is for those who want them as a failure. */
const read = (options: ClientOptions) =>
  Effect.try({
    try: () => readOptions(options),
    catch: (error): ClientFailure<"options"> => {
      if (isTocsinClientError(error) && error.code === "options") return error
      throw error
    },
  })

/**
 * The API of a Tocsin service, as effects and streams over any HttpClient.
 *
 * @example
 * ```ts
 * import { TocsinClient } from "tocsin/client"
 * import { Config, Effect, Layer, Stream } from "effect"
 * import { FetchHttpClient } from "effect/http"
 *
 * const client = Layer.unwrap(
 *   Effect.map(Config.redacted("TOCSIN_TOKEN"), (token) =>
 *     TocsinClient.layer({ baseUrl: "https://monitoring.example", token }),
 *   ),
 * ).pipe(Layer.provide(FetchHttpClient.layer))
 *
 * const open = Effect.gen(function* () {
 *   const { incidents } = yield* TocsinClient
 *   return yield* Stream.runCollect(incidents.all({ state: "open" }))
 * })
 * Effect.runPromise(Effect.provide(open, client))
 * ```
 */
export class TocsinClient extends Context.Service<TocsinClient, Calls>()("@tocsin/client/TocsinClient") {
  /** Makes a client. Fails, with code `options`, where it is given options that it cannot take; sends nothing yet. */
  static readonly make = Effect.fnUntraced(function* (
    options: ClientOptions,
  ): Effect.fn.Return<Calls, ClientFailure<"options">, HttpClient.HttpClient> {
    const known = yield* read(options)
    return makeCalls(yield* clientsOf(known), known)
  })

  /** {@link TocsinClient.make} as a layer. */
  static readonly layer = (
    options: ClientOptions,
  ): Layer.Layer<TocsinClient, ClientFailure<"options">, HttpClient.HttpClient> =>
    Layer.effect(TocsinClient, TocsinClient.make(options))
}
