import type { Agent, ClientRequest, IncomingMessage } from "node:http"
import net from "node:net"
import process from "node:process"
import { hostField } from "@tocsin/contract/formats/hosts"
import { connectingBy, openConnection } from "@tocsin/contract/formats/openConnection"
import { Clock, Deferred, Duration, Effect, Option, type Scope } from "effect"
import {
  authorizationOf,
  checkedLookup,
  hostOf,
  NameLookup,
  type Target,
  type TargetPolicy,
} from "./Target.ts"

export interface Answer {
  readonly status: number
  readonly retryAfter: string | undefined
  /** As much of the body as was read. */
  readonly body: string
}

/** No answer arrived: the `code` of Node's error, if any, without its message, which contains addresses. */
export interface NoAnswer {
  readonly code: string | undefined
}

/** A request: POST with content, GET without. */
export interface Message {
  readonly content?: { readonly type: string; readonly text: string | Buffer }
  readonly headers?: Readonly<Record<string, string>>
  readonly method?: "PUT" | undefined
  /** Path and query instead of the target's. */
  readonly path?: string | undefined
}

/** Sends one message. `none` if no status arrives in time. */
export type Exchange = (message: Message) => Effect.Effect<Option.Option<Answer>, NoAnswer>

/** Enough for the answer of a receiver (docs/rules.md#notifiers). */
const MAX_BODY_BYTES = 64 * 1024
/** The status decides; most bodies arrive with it. */
const BODY_PATIENCE = Duration.seconds(2)
/** As many as attempts run at one receiver by default, so that a storm opens them once. */
const MAX_IDLE_CONNECTIONS = 32
/** A connection outlives its attempt a little, so that the attempt says why it failed. */
const GRACE = Duration.seconds(1)
/** Less than the 5 s after which many servers close an idle connection. */
const IDLE_MILLIS = 4_000

/** Loaded by the first message: it takes 10 MiB, and commands send none. */
const httpModule = (isSecure: boolean) =>
  isSecure ? process.getBuiltinModule("node:https") : process.getBuiltinModule("node:http")

export const makeExchange = Effect.fnUntraced(function* (
  target: Target,
  options: TargetPolicy & { readonly timeout: Duration.Duration },
): Effect.fn.Return<Exchange, never, Scope.Scope> {
  const lookup = checkedLookup(yield* NameLookup, options)
  const isSecure = target.url.protocol === "https:"
  const authorization = authorizationOf(target)
  const closing = new AbortController()
  const millis = Duration.toMillis(Duration.sum(options.timeout, GRACE))
  let agent: Agent | undefined
  yield* Effect.addFinalizer(() =>
    Effect.sync(() => {
      closing.abort()
      agent?.destroy()
    }),
  )
  const open = ({ content, headers, method, path }: Message): ClientRequest => {
    const { Agent, request } = httpModule(isSecure)
    // Delivery limits concurrent attempts; a limit on connections would only delay some of them.
    agent ??= connectingBy(
      new Agent({ keepAlive: true, maxFreeSockets: MAX_IDLE_CONNECTIONS, timeout: IDLE_MILLIS }),
      (host, port) => openConnection(net, { host, port, lookup }, closing.signal, millis),
    )
    return request({
      agent,
      method: method ?? (content === undefined ? "GET" : "POST"),
      hostname: hostOf(target.url),
      port: target.url.port,
      path: path ?? `${target.url.pathname}${target.url.search}`,
      headers: {
        host: hostField(target.url),
        ...headers,
        "user-agent": "Tocsin",
        ...(content !== undefined && {
          "content-type": content.type,
          "content-length": Buffer.byteLength(content.text).toString(),
        }),
        ...(authorization !== undefined && { authorization }),
      },
    })
  }
  return (message) =>
    Effect.acquireUseRelease(
      Effect.sync(() => start(open(message), message.content?.text ?? "")),
      (started) => receive(started, options.timeout),
      // After a complete answer the connection is back with the agent, and this has no effect.
      ({ request }) => Effect.sync(() => request.destroy()),
    )
})

/** A head: its status, and its fields as far as they arrived. */
const HEAD = /^\s*HTTP\/\S+[\t ]+([1-5]\d\d)(?=\s)([^]*?)(?:\n\r?\n|\r\r|$)/u
const RETRY_AFTER = /[\r\n]retry-after[\t ]*:([^\r\n]*)[\r\n]/iu
/** Interim answers and a status line are shorter. */
const MOST_LINES = 4_096

/**
 * The answer whose head Node.js does not take, by its status line: the receiver has decided, and another
 * attempt would repeat the message.
 */
const unparsedAnswer = (request: ClientRequest) => {
  let seen = ""
  const note = (part: Buffer) => {
    if (seen.length < MOST_LINES) seen += part.toString("latin1", 0, MOST_LINES)
  }
  request.on("socket", (socket) => {
    // Before the parser, which ends the request at the first fault.
    socket.prependListener("data", note)
    request.once("close", () => socket.off("data", note))
  })
  return () => answerIn(seen)
}

/** The answer behind interim ones. One expression for all of them would take exponential time. */
const answerIn = (seen: string): Answer | undefined => {
  let head = HEAD.exec(seen)
  for (let rest = seen; head?.[1]?.startsWith("1"); head = HEAD.exec(rest)) rest = rest.slice(head[0].length)
  const [, status, fields = ""] = head ?? []
  const retryAfter = RETRY_AFTER.exec(`${fields}\n`)?.[1]
  return status === undefined ? undefined : { status: Number(status), retryAfter, body: "" }
}

const start = (request: ClientRequest, body: string | Buffer) => {
  const head = Deferred.makeUnsafe<IncomingMessage | Answer, NoAnswer>()
  const unparsed = unparsedAnswer(request)
  const fail = (code: string | undefined) => {
    const answer = unparsed()
    Deferred.doneUnsafe(head, answer === undefined ? Effect.fail({ code }) : Effect.succeed(answer))
  }
  request.on("response", (response) => {
    // Its `close` event suffices; without a listener, the error would end the process.
    response.on("error", () => {})
    Deferred.doneUnsafe(head, Effect.succeed(response))
  })
  request.on("error", (error: NodeJS.ErrnoException) => fail(error.code))
  request.on("close", () => fail("ECONNRESET"))
  request.end(body)
  return { request, head, unparsed }
}

const receive = Effect.fnUntraced(function* (
  { head, unparsed }: ReturnType<typeof start>,
  timeout: Duration.Duration,
) {
  const started = yield* Clock.currentTimeMillis
  const response = yield* Effect.timeoutOption(Deferred.await(head), timeout)
  if (Option.isNone(response)) return Option.fromUndefinedOr(unparsed())
  if ("status" in response.value) return Option.some(response.value)
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

/** The body up to its end, the limit, or the end of the connection. */
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
    // Also follows a complete body, when its connection is free for the next request.
    response.on("close", finish)
    if (response.closed) finish()
  })
