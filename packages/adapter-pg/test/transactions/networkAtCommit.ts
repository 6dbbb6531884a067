import { connect, createServer, type Socket } from "node:net"
import { throughLoopback } from "@tocsin/test/postgres/throughLoopback"
import { Effect, Redacted, type Scope } from "effect"

/**
 * The fate of the next COMMIT: it never arrives and the connection is lost; it arrives and its
 * answer does not, and the connection is lost, or stays and is silent; or the client loses its
 * connection while COMMIT is still on its way.
 */
export type AtCommit = "lost" | "answer_lost" | "unanswered" | "delayed"

/** A way to a database that breaks at a COMMIT. */
export interface NetworkAtCommit {
  readonly url: Redacted.Redacted
  /** Says what happens to the next COMMIT; the ones after it pass. */
  readonly breakNext: (what: AtCommit) => Effect.Effect<void>
  /** Delivers what was delayed. */
  readonly deliver: Effect.Effect<void>
  /** How many COMMITs are delayed. */
  readonly delayed: Effect.Effect<number>
  /** Ends every connection that goes this way. */
  readonly cut: Effect.Effect<void>
}

/** Opens such a way through a port of this machine; closed with the scope. */
export const networkAtCommit = Effect.fnUntraced(function* (
  url: Redacted.Redacted,
): Effect.fn.Return<NetworkAtCommit, never, Scope.Scope> {
  const target = new URL(Redacted.value(url))
  const clients = new Map<Socket, Socket>()
  const delayed: Array<() => void> = []
  let next: AtCommit | undefined

  const commit = (chunk: Buffer, client: Socket, upstream: Socket, what: AtCommit): void => {
    if (what === "unanswered") {
      upstream.removeAllListeners("data")
      upstream.resume()
      upstream.write(chunk)
    } else if (what === "answer_lost") {
      upstream.removeAllListeners("data")
      upstream.once("data", () => client.destroy())
      upstream.write(chunk)
    } else {
      if (what === "delayed") {
        clients.delete(client)
        delayed.push(() => upstream.write(chunk))
      }
      client.destroy()
    }
  }
  const server = createServer((client) => {
    const upstream = connect(Number(target.port || "5432"), target.hostname)
    clients.set(client, upstream)
    client.on("data", (chunk) => {
      const what = chunk.includes("COMMIT\0") ? next : undefined
      if (what === undefined) {
        upstream.write(chunk)
      } else {
        next = undefined
        commit(chunk, client, upstream, what)
      }
    })
    upstream.on("data", (chunk) => client.write(chunk))
    upstream.on("end", () => client.end())
    client.on("close", () => {
      // A delayed COMMIT keeps its way to the server.
      if (clients.delete(client)) upstream.destroy()
    })
    upstream.on("error", () => client.destroy())
    client.on("error", () => client.destroy())
  })
  const cut = Effect.sync(() => {
    for (const client of clients.keys()) client.destroy()
  })
  const through = yield* throughLoopback(server, target, cut)
  return {
    url: through,
    breakNext: (what) =>
      Effect.sync(() => {
        next = what
      }),
    deliver: Effect.sync(() => {
      for (const send of delayed.splice(0)) send()
    }),
    delayed: Effect.sync(() => delayed.length),
    cut,
  }
})
