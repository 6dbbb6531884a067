import { Cause, Context, Effect, Exit, Layer, Result, Stream } from "effect"
import { FetchHttpClient, HttpClient } from "effect/http"
import { unknownArguments } from "@tocsin/contract/formats/nearestName"
import { TocsinClientError } from "./TocsinClientError.ts"
import { mapCalls } from "./calls/callTable.ts"
import { type EndpointCalls, endpointCalls } from "./calls/EndpointCalls.ts"
import { endpointCodecs } from "./calls/endpoints.ts"
import type { ExportSpan } from "./Resources.ts"
import { type Calls, walkPages } from "./TocsinClient.ts"
import { type ClientOptions, readOptions } from "./options/ClientOptions.ts"

/** {@link ClientOptions}, and a `fetch`. */
export interface PromiseClientOptions extends ClientOptions {
  /** Replaces the runtime's fetch: for tests and proxies. */
  readonly fetch?: typeof globalThis.fetch | undefined
}

/** Options of every call, as its last argument. */
export interface CallOptions {
  /** Cancels the call: it rejects with the signal's reason, and may have taken effect. */
  readonly signal?: AbortSignal | undefined
}

/** Effects as promises, and streams as async iterators. */
type AsPromises<Group> = {
  readonly [Name in keyof Group]: Group[Name] extends (
    ...input: infer Input
  ) => Effect.Effect<infer A, infer _E>
    ? (...input: [...Input, options?: CallOptions]) => Promise<A>
    : Group[Name] extends (...input: infer Input) => Stream.Stream<infer Item, infer _E>
      ? (...input: [...Input, options?: CallOptions]) => AsyncGenerator<Item, void, undefined>
      : AsPromises<Group[Name]>
}

/** The calls of the API as promises; they reject with a `TocsinClientError`, whose `code` says why. */
export interface Client extends AsPromises<Calls> {}

/**
 * Makes a client of the API, for browsers, Node and whatever else has `fetch`. It holds no
 * connection, so there is nothing to close. Throws a `TocsinClientError` with code `options` if the
 * options are invalid; sends nothing yet.
 *
 * @example
 * ```ts
 * const client = createClient({ baseUrl: "https://monitoring.example", token })
 * for await (const incident of client.incidents.all({ state: "open" })) console.log(incident.summary)
 * ```
 *
 * @example An agent
 * ```ts
 * const client = createClient({ baseUrl: "https://monitoring.example", agentKey })
 * const { accepted } = await client.heartbeat({
 *   agent_id: "web-1",
 *   observed_at: new Date().toISOString(),
 *   hostname: "web-1.example",
 *   features: { push: true, metrics: false },
 * })
 * ```
 */
export const createClient = (options: PromiseClientOptions): Client => {
  const sending =
    options?.fetch === undefined
      ? FetchHttpClient.layer
      : Layer.provide(FetchHttpClient.layer, Layer.succeed(FetchHttpClient.Fetch, options.fetch))
  const read = Result.getOrThrow(readOptions(options))
  return asPromises(Effect.runSync(Effect.provide(endpointCalls(read), sending)))
}

// Spans that are not collected would add headers, for which a browser has to ask the service.
const withoutTracing = Context.make(HttpClient.TracerDisabledWhen, () => true)

/** Arguments behind those of a call: by its types, the options alone. */
type Further = ReadonlyArray<unknown>

const signalOf = (further: Further): AbortSignal | undefined => {
  const problems = unknownArguments(further, ["signal"])
  if (problems.length > 0) throw new TocsinClientError("validation", problems.join("\n"))
  const [options] = further as [options?: CallOptions]
  return options?.signal
}

const run = async <A>(call: Effect.Effect<A, unknown>, further: Further): Promise<A> => {
  const signal = signalOf(further)
  signal?.throwIfAborted()
  const exit = await Effect.runPromiseExitWith(withoutTracing)(call, { signal })
  if (Exit.isSuccess(exit)) return exit.value
  signal?.throwIfAborted()
  throw Cause.squash(exit.cause)
}

const failingOn = (signal: AbortSignal): Effect.Effect<never, unknown> =>
  Effect.callback((resume) => {
    const fail = () => resume(Effect.fail(signal.reason))
    signal.addEventListener("abort", fail, { once: true })
    return Effect.sync(() => signal.removeEventListener("abort", fail))
  })

async function* iterate<A>(items: Stream.Stream<A, unknown>, further: Further) {
  const signal = signalOf(further)
  signal?.throwIfAborted()
  const bounded = signal === undefined ? items : Stream.interruptWhen(items, failingOn(signal))
  for await (const item of Stream.toAsyncIterableWith(bounded, withoutTracing)) {
    signal?.throwIfAborted()
    yield item
  }
}

const asPromises = ({ call, changes, export: exported, health, isReady }: EndpointCalls): Client => {
  const calls = mapCalls(({ endpoint, walks }) => {
    const effect = call(endpoint)
    if (walks) return (input?: object, ...further: Further) => iterate(walkPages(effect)(input), further)
    const { inputs } = endpointCodecs[endpoint]
    return (...given: Further) => run(effect(...given.slice(0, inputs)), given.slice(inputs))
  })
  const probes = {
    changes: (...further: Further) => iterate(changes(), further),
    export: (span: ExportSpan, ...further: Further) => iterate(exported(span), further),
    health: (...further: Further) => run(health(), further),
    isReady: (...further: Further) => run(isReady(), further),
  }
  // Types and code follow the same table, which the compiler cannot see.
  return { ...calls, ...probes } as unknown as Client
}
