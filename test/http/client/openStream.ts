import { type ClientRequest, type IncomingMessage, request } from "node:http"
import { assert } from "@effect/vitest"
import { Deferred, Effect, Queue, type Scope } from "effect"
import { Tocsin } from "../service/Tocsin.ts"

/** An event as its client reads it. */
export interface StreamEvent {
  readonly topics: ReadonlyArray<string>
  readonly at: string
}

/** An open stream. */
export interface OpenStream {
  readonly answer: IncomingMessage
  readonly events: Queue.Queue<StreamEvent>
  /** Comments after the first, each with its time. */
  readonly comments: Queue.Queue<number>
  readonly ended: Effect.Effect<void>
}

/** Splits a stream into its events and comments. */
const reading = (answer: IncomingMessage, onPart: (part: string) => void): void => {
  let text = ""
  answer.setEncoding("utf8").on("data", (piece: string) => {
    const parts = (text + piece).split("\n\n")
    text = parts.pop() ?? ""
    for (const part of parts) onPart(part)
  })
}

/** Opens a stream until the scope closes. Succeeds once its first comment is there. */
export const openStream = Effect.fnUntraced(function* (
  token: string,
): Effect.fn.Return<OpenStream, never, Scope.Scope | Tocsin> {
  const { port } = yield* Tocsin
  const events = yield* Queue.unbounded<StreamEvent>()
  const comments = yield* Queue.unbounded<number>()
  const ended = yield* Deferred.make<void>()
  let outgoing: ClientRequest | undefined
  yield* Effect.addFinalizer(() => Effect.sync(() => outgoing?.destroy()))
  const answer = yield* Effect.callback<IncomingMessage>((resume) => {
    const headers = { authorization: `Bearer ${token}` }
    outgoing = request({ host: "127.0.0.1", port, path: "/ops/v1/stream", headers, agent: false })
    outgoing.on("error", (error) => resume(Effect.die(error)))
    outgoing.on("response", (incoming) => {
      incoming.on("close", () => Deferred.doneUnsafe(ended, Effect.void))
      if (incoming.statusCode !== 200) return resume(Effect.succeed(incoming.resume()))
      let isOpen = false
      reading(incoming, (part) => {
        if (part.startsWith("data: ")) return Queue.offerUnsafe(events, JSON.parse(part.slice(6)))
        assert.match(part, /^: /)
        if (isOpen) return Queue.offerUnsafe(comments, performance.now())
        isOpen = true
        return resume(Effect.succeed(incoming))
      })
    })
    outgoing.end()
  })
  return { answer, events, comments, ended: Deferred.await(ended) }
})
