import { MAX_LIMIT } from "@tocsin/contract/v1/Parameters"
import { Context, Effect, Layer, Option, Stream } from "effect"
import type { HttpClient } from "effect/http"
import type { ExportLine, ExportSpan, Page, TopicsChanged } from "./Resources.ts"
import { type AnyCallCode, type ClientFailure, TocsinClientError } from "./TocsinClientError.ts"
import type { ExportFailure } from "./calls/exportLines.ts"
import { type EndpointCalls, endpointCalls } from "./calls/EndpointCalls.ts"
import type { Call, Walk } from "./calls/call.ts"
import { type callTable, mapCalls } from "./calls/callTable.ts"
import type { EndpointName, ErrorOf } from "./calls/endpoints.ts"
import { type RedactedClientOptions, readOptions } from "./options/ClientOptions.ts"
import type { CodeOf } from "./sending/attempt.ts"

const ENDLESS =
  "the service gave the same next_cursor twice, so the list would never end; is baseUrl a Tocsin?"

/** The items of all pages of a list. Fails if a cursor repeats, because the list would never end. */
export const walkPages =
  <E>(list: (...input: ReadonlyArray<unknown>) => Effect.Effect<unknown, E>) =>
  (
    parameters: object = {},
    ...further: ReadonlyArray<unknown>
  ): Stream.Stream<unknown, E | TocsinClientError<"unexpected_answer">> =>
    Stream.suspend(() => {
      const followed = new Set<string>()
      return Stream.paginate<object, unknown, E | TocsinClientError<"unexpected_answer">>({}, (place) =>
        Effect.flatMap(list({ limit: MAX_LIMIT, ...parameters, ...place }, ...further), (answer) => {
          const { items, next_cursor } = answer as Page<unknown>
          if (!next_cursor) return Effect.succeed([items, Option.none()])
          if (followed.has(next_cursor))
            return Effect.fail(new TocsinClientError("unexpected_answer", ENDLESS))
          followed.add(next_cursor)
          return Effect.succeed([items, Option.some({ cursor: next_cursor })])
        }),
      )
    })

type FailureOf<Name extends EndpointName> = ClientFailure<CodeOf<ErrorOf<Name>> | AnyCallCode | "validation">

/** The table's calls as effects, and its walks as streams. */
type AsEffects<Table> = {
  readonly [Name in keyof Table]: Table[Name] extends Call<infer Endpoint, infer Input, infer Output>
    ? (...input: Input) => Effect.Effect<Output, FailureOf<Endpoint>>
    : Table[Name] extends Walk<infer Endpoint, infer Input, infer Item>
      ? (...input: Input) => Stream.Stream<Item, FailureOf<Endpoint>>
      : AsEffects<Table[Name]>
}

/** The calls of the API as effects. */
export interface Calls extends AsEffects<typeof callTable> {
  /**
   * The topics to fetch again, for live views: names, no data. Each connection begins with every
   * topic. It reconnects when the connection breaks or the service restarts, and fails only where
   * the service refuses the token or has no stream.
   */
  readonly changes: () => Stream.Stream<
    TopicsChanged,
    ClientFailure<AnyCallCode | "unauthorized" | "forbidden">
  >
  /**
   * Rows of the storage for other systems, with a cursor after each 1,000 and at the end, each read as it is taken. Fails
   * with `connection` where it was cut: give the last cursor to go on behind it.
   *
   * @example
   * ```ts
   * for await (const line of client.export({ kind: "history", from: "2027-01-01T00:00:00Z", to: "2027-02-01T00:00:00Z" }))
   *   if (!("cursor" in line)) console.log(line)
   * ```
   */
  readonly export: (span: ExportSpan) => Stream.Stream<ExportLine, ExportFailure>
  /** Whether the process answers. Needs no token, and is never retried. */
  readonly health: () => Effect.Effect<{ readonly status: "ok" }, ClientFailure<AnyCallCode>>
  /** Whether the service can do its work now. Needs no token, and is never retried. */
  readonly isReady: () => Effect.Effect<boolean, ClientFailure<AnyCallCode>>
}

const asEffects = ({ call, ...probes }: EndpointCalls): Calls => {
  const calls = mapCalls(({ endpoint, walks }) => (walks ? walkPages(call(endpoint)) : call(endpoint)))
  // Types and code follow the same table, which the compiler cannot see.
  return { ...calls, ...probes } as unknown as Calls
}

/**
 * The API of a Tocsin service, as effects and streams over any HttpClient.
 *
 * @example
 * ```ts
 * import { TocsinClient } from "tocsin/effect"
 * import { Config, Effect, Layer, Stream } from "effect"
 * import { FetchHttpClient } from "effect/http"
 *
 * const client = Layer.unwrap(
 *   Effect.map(Config.Redacted("TOCSIN_TOKEN"), (token) =>
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
  /** Makes a client. Fails with code `options` if they are invalid; sends nothing yet. */
  static readonly make = (
    options: RedactedClientOptions,
  ): Effect.Effect<Calls, ClientFailure<"options">, HttpClient.HttpClient> =>
    Effect.fromResult(readOptions(options)).pipe(Effect.flatMap(endpointCalls), Effect.map(asEffects))

  /** {@link TocsinClient.make} as a layer. */
  static readonly layer = (
    options: RedactedClientOptions,
  ): Layer.Layer<TocsinClient, ClientFailure<"options">, HttpClient.HttpClient> =>
    Layer.effect(TocsinClient, TocsinClient.make(options))
}
