import type { Socket } from "node:net"
import { LinkedQueue } from "@tocsin/core/kernel/engine/LinkedQueue"
import { Effect, Fiber } from "effect"
import type { ApiOptions } from "../ApiRoutes.ts"
import { AgentConnection, type ConnectionHost } from "./AgentConnection.ts"
import { frontServices, type FrontServices } from "./agentWork.ts"

/** The node:http server's part in connections, before and after the front handles them. */
export type Behind = Omit<ConnectionHost, "services" | "flushSoon" | "forget">

/** More waiting answers than this gain nothing any more, and the first has waited long enough. */
const MOST_WAITING = 16

/** The connections of a server that node:http has not seen yet (docs/decisions/0018). */
export class AgentFront {
  readonly #services: FrontServices
  readonly #connections = new LinkedQueue<AgentConnection>()
  #isClosed = false
  /** Connections whose answers are written at the end of this turn of the event loop. */
  #answered: Array<AgentConnection> = []
  readonly #flush = () => {
    const answered = this.#answered
    this.#answered = []
    for (const connection of answered) connection.flush()
  }

  constructor(services: FrontServices) {
    this.#services = services
  }

  /** Takes a new connection, until it is handed over. */
  take(socket: Socket, behind: Behind): void {
    if (this.#isClosed) {
      socket.destroy()
      return
    }
    const host: ConnectionHost = {
      services: this.#services,
      flushSoon: (connection) => this.#flushSoon(connection),
      forget: () => place.leave(),
      ...behind,
    }
    const place = this.#connections.add(new AgentConnection(socket, host))
  }

  closeIdle(): void {
    for (const connection of Array.from(this.#connections)) connection.closeIfIdle()
  }

  /** Closes all connections, and those that still come before the server stops listening. */
  closeAll(): void {
    this.#isClosed = true
    for (const connection of Array.from(this.#connections)) connection.destroy()
  }

  readonly interrupt: Effect.Effect<void> = Effect.suspend(() => {
    const connections = Array.from(this.#connections)
    for (const connection of connections) connection.endBeat()
    return Fiber.interruptAll(connections.flatMap(({ work }) => work ?? []))
  })

  /**
   * Writes the answers of one turn together: a client that the first of them wakes finds the others
   * there, and waking it costs more than writing (docs/performance.md).
   */
  #flushSoon(connection: AgentConnection): void {
    if (this.#answered.push(connection) === 1) setImmediate(this.#flush)
    else if (this.#answered.length === MOST_WAITING) this.#flush()
  }
}

export const make = (options: ApiOptions) =>
  Effect.acquireRelease(
    Effect.map(frontServices(options), (services) => new AgentFront(services)),
    (front) => front.interrupt,
  )
