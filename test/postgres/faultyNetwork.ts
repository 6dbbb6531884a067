import { connect, createServer, type Socket } from "node:net"
import { Effect, Redacted, type Scope } from "effect"
import { throughLoopback } from "./throughLoopback.ts"

/** A way to a database that tests can break. */
export interface FaultyNetwork {
  /** The same database, reached this way. */
  readonly url: Redacted.Redacted
  /** How many connections go this way. */
  readonly connections: Effect.Effect<number>
  /** Ends every connection that goes this way. New ones can be made. */
  readonly cut: Effect.Effect<void>
  /**
   * From now on nothing that the server sends arrives, on new connections too. Requests still do.
   */
  readonly holdReplies: Effect.Effect<void>
  readonly passReplies: Effect.Effect<void>
  /**
   * Existing connections carry nothing and stay open, as when their host has vanished. New ones
   * work.
   */
  readonly vanish: Effect.Effect<void>
  /** The same, but those connections stay that have carried this text. */
  readonly vanishBut: (text: string) => Effect.Effect<void>
}

/** Opens a way to the server of a URL, through a port of this machine; closed with the scope. */
export const faultyNetwork = Effect.fnUntraced(function* (
  url: Redacted.Redacted,
): Effect.fn.Return<FaultyNetwork, never, Scope.Scope> {
  const target = new URL(Redacted.value(url))
  const pairs = new Map<Socket, Socket>()
  const vanished = new WeakSet<Socket>()
  const sent = new WeakMap<Socket, string>()
  let held = false
  const server = createServer((client) => {
    const upstream = connect(Number(target.port || "5432"), target.hostname)
    pairs.set(client, upstream)
    if (held) upstream.pause()
    client.on("data", (chunk) => {
      sent.set(upstream, `${sent.get(upstream) ?? ""}${chunk.toString("latin1")}`)
      if (!vanished.has(upstream)) upstream.write(chunk)
    })
    upstream.on("data", (chunk) => {
      if (!vanished.has(upstream)) client.write(chunk)
    })
    upstream.on("end", () => client.end())
    client.on("close", () => {
      pairs.delete(client)
      upstream.destroy()
    })
    upstream.on("error", () => client.destroy())
    client.on("error", () => client.destroy())
  })
  const cut = Effect.sync(() => {
    for (const client of pairs.keys()) client.destroy()
  })
  const hold = (holding: boolean) =>
    Effect.sync(() => {
      held = holding
      for (const upstream of pairs.values()) {
        if (holding) upstream.pause()
        else upstream.resume()
      }
    })
  const vanishBut = (text: string) =>
    Effect.sync(() => {
      for (const upstream of pairs.values()) {
        if (sent.get(upstream)?.includes(text) !== true) vanished.add(upstream)
      }
    })
  const vanish = Effect.sync(() => {
    for (const upstream of pairs.values()) vanished.add(upstream)
  })
  const through = yield* throughLoopback(server, target, cut)
  return {
    url: through,
    connections: Effect.sync(() => pairs.size),
    cut,
    holdReplies: hold(true),
    passReplies: hold(false),
    vanish,
    vanishBut,
  }
})
