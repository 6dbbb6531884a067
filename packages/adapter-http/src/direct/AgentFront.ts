import type { Socket } from "node:net"
import { Effect, Tracer } from "effect"
import type { ApiOptions } from "../ApiRoutes.ts"
import { AgentConnection, type ConnectionHost } from "./AgentConnection.ts"
import { type Listener, listener } from "./AgentListener.ts"
import { Burst } from "./Burst.ts"
import { type Surroundings, surroundings } from "./Surroundings.ts"

/** What a server of node:http does for connections before and after they are its own. */
export type Behind = Omit<ConnectionHost, "around" | "burst" | "forget">

/** The connections of a server that node:http has not seen yet. */
export class AgentFront {
  readonly takesRequest: Listener
  readonly #around: Surroundings
  readonly #burst = new Burst()
  readonly #connections = new Set<AgentConnection>()

  constructor(around: Surroundings) {
    this.#around = around
    this.takesRequest = listener(around)
  }

  /** Takes a new connection, until it is handed over. */
  take(socket: Socket, behind: Behind): void {
    const forget = (connection: AgentConnection) => void this.#connections.delete(connection)
    const host = { around: this.#around, burst: this.#burst, forget, ...behind }
    this.#connections.add(new AgentConnection(socket, host))
  }

  /** Closes connections on which no request is at work. */
  closeIdle(): void {
    for (const connection of this.#connections) connection.closeIfIdle()
  }

  /** Closes all connections. */
  closeAll(): void {
    for (const connection of this.#connections) connection.destroy()
  }
}

/**
 * Takes what agents usually send before node:http does (docs/decisions/0005). `undefined` with a tracer, because the API makes
 * the spans.
 */
export const make = Effect.fnUntraced(function* (options: ApiOptions) {
  const isTraced = (yield* Tracer.Tracer) !== Tracer.nativeTracer
  return isTraced ? undefined : new AgentFront(yield* surroundings(options))
})
