import {
  Agent as HttpAgent,
  type ClientRequest,
  type IncomingMessage,
  request as httpRequest,
} from "node:http"
import { Agent as HttpsAgent, request as httpsRequest } from "node:https"
import { Clock, Deferred, Duration, Effect, Option, type Scope } from "effect"
import { checkedLookup } from "./checkedLookup.ts"
import { NameLookup } from "./NameLookup.ts"
import type { TargetPolicy } from "./RefusedAddresses.ts"
import { hostOf, type Target } from "./Target.ts"

/** What a receiver answered. */
export interface Answer {
  readonly status: number
  readonly retryAfter: string | undefined
  /** As much of the body as was read. */
  readonly body: string
}

/** No answer came: the `code` of Node's error, where it has one. Its message, which names addresses, is left behind. */
export interface NoAnswer {
  readonly code: string | undefined
}

/** Sends one message: fails with {@link NoAnswer}, `none` where no status came in time. */
export type Exchange = (message: {
  /** POST unless given. */
  readonly method?: "GET" | undefined
  readonly body: string
  readonly headers: Readonly<Record<string, string>>
}) => Effect.Effect<Option.Option<Answer>, NoAnswer>

/** More than enough for what a receiver has to say (docs/rules.md#notifiers). */
const MAX_BODY_BYTES = 64 * 1024
/** The status has decided by then; a body that is sent at all comes with it. */
const BODY_PATIENCE = Duration.seconds(2)
const MAX_IDLE_CONNECTIONS = 4
/** Below the 5 s after which many servers close an idle connection, so that a request seldom meets one that is closing. */
const IDLE_MILLIS = 4_000

/** A client of one target, with connections of its own that are kept for a while and close with the scope. */
export const makeExchange = Effect.fnUntraced(function* (
  target: Target,
  options: TargetPolicy & { readonly timeout: Duration.Duration },
): Effect.fn.Return<Exchange, never, Scope.Scope> {
  const lookup = checkedLookup(yield* NameLookup, options)
  const isSecure = target.url.protocol === "https:"
  // Delivery bounds the attempts under way, each of which needs a connection: a limit here would make one wait for another.
  const agent = yield* Effect.acquireRelease(
    Effect.sync(
      () =>
        new (isSecure ? HttpsAgent : HttpAgent)({
          keepAlive: true,
          maxFreeSockets: MAX_IDLE_CONNECTIONS,
          timeout: IDLE_MILLIS,
          lookup,
        }),
    ),
    (opened) => Effect.sync(() => opened.destroy()),
  )
  const open = (method: string, headers: Readonly<Record<string, string>>): ClientRequest =>
    (isSecure ? httpsRequest : httpRequest)({
      agent,
      method,
      hostname: hostOf(target.url),
      port: target.url.port,
      path: `${target.url.pathname}${target.url.search}`,
      headers: {
        ...headers,
        ...(target.authorization !== undefined && { authorization: target.authorization }),
      },
    })
  return ({ method = "POST", body, headers }) =>
    Effect.acquireUseRelease(
      Effect.sync(() => start(open(method, headers), body)),
      ({ head }) => receive(head, options.timeout),
      // Of no effect on a connection that has gone back to the agent after a complete answer.
      ({ request }) => Effect.sync(() => request.destroy()),
    )
})

const start = (request: ClientRequest, body: string) => {
  const head = Deferred.makeUnsafe<IncomingMessage, NoAnswer>()
  request.on("response", (response) => {
    // A body that breaks off is told by its end as well; unheard, the error would end the process.
    response.on("error", () => {})
    Deferred.doneUnsafe(head, Effect.succeed(response))
  })
  request.on("error", (error: NodeJS.ErrnoException) =>
    Deferred.doneUnsafe(head, Effect.fail({ code: error.code })),
  )
  request.on("close", () => Deferred.doneUnsafe(head, Effect.fail({ code: "ECONNRESET" })))
  request.end(body)
  return { request, head }
}

const receive = Effect.fnUntraced(function* (
  head: Deferred.Deferred<IncomingMessage, NoAnswer>,
  timeout: Duration.Duration,
) {
  const started = yield* Clock.currentTimeMillis
  const response = yield* Effect.timeoutOption(Deferred.await(head), timeout)
  if (Option.isNone(response)) return Option.none<Answer>()
  const elapsed = Duration.millis((yield* Clock.currentTimeMillis) - started)
  const patience = Duration.min(BODY_PATIENCE, Duration.subtract(timeout, elapsed))
  const body = yield* Effect.timeoutOption(readBody(response.value), patience)
  const { statusCode = 0, headers } = response.value
  return Option.some<Answer>({
    status: statusCode,
    retryAfter: headers["retry-after"],
    body: Option.getOrElse(body, () => ""),
  })
})

/** The body up to its end, its limit, or where it breaks off. */
const readBody = (response: IncomingMessage): Effect.Effect<string> =>
  Effect.callback((resume) => {
    const chunks: Array<Buffer> = []
    let bytes = 0
    const finish = () => resume(Effect.sync(() => Buffer.concat(chunks).toString("utf8")))
    response.on("data", (chunk: Buffer) => {
      bytes += chunk.length
      if (bytes <= MAX_BODY_BYTES) chunks.push(chunk)
      else finish()
    })
    // Comes after the end of a complete body too, and by then its connection is free for the next request.
    response.on("close", finish)
    if (response.closed) finish()
  })
