import { createHook } from "node:async_hooks"
import type { EventEmitter } from "node:events"
import { subscribe, unsubscribe } from "node:diagnostics_channel"
import { readdirSync, readlinkSync } from "node:fs"
import type { Socket } from "node:net"
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"

/** How many of each kind are held. */
export type Counts = Readonly<Record<string, number>>

/**
 * Node.js's names of them. Unlike `process.getActiveResourcesInfo`, a hook sees those without a
 * reference too.
 */
const KINDS: ReadonlySet<string> = new Set([
  "Timeout",
  "TCPSERVERWRAP",
  "TCPWRAP",
  "TLSWRAP",
  "PROCESSWRAP",
  "WORKER",
])

setFlagsFromString("--expose-gc")
/** Collects garbage. */
export const collect: () => void = runInNewContext("gc")

const DESCRIPTORS = "/proc/self/fd"

/** The open files and sockets of this process; none where the system does not list them. */
const descriptors = (): ReadonlyArray<string> => {
  try {
    return readdirSync(DESCRIPTORS).flatMap((each) => {
      try {
        return [readlinkSync(`${DESCRIPTORS}/${each}`).replace(/:\[\d+\]$/u, "")]
      } catch {
        return []
      }
    })
  } catch {
    return []
  }
}

/** The kind of what only the collector of garbage ends. */
export const CLOSED_SOCKET = "closed socket"

const LISTENED = "net.server.socket"

/** Counts what this process has opened since, and has not released. */
export class Held {
  readonly #live = new Map<number, string>()
  readonly #accepted: Array<WeakRef<Socket>> = []
  readonly #hook = createHook({
    init: (id, kind) => void (KINDS.has(kind) && this.#live.set(id, kind)),
    destroy: (id) => void this.#live.delete(id),
  })
  readonly #onAccepted = (message: unknown): void => {
    // The message of the channel (net, channel "net.server.socket").
    this.#accepted.push(new WeakRef((message as { readonly socket: Socket }).socket))
  }

  constructor() {
    this.#hook.enable()
    subscribe(LISTENED, this.#onAccepted)
  }

  stop(): void {
    this.#hook.disable()
    unsubscribe(LISTENED, this.#onAccepted)
  }

  /** Sockets that are closed, and are still in memory, are held by a list that nobody clears. */
  counts(): Counts {
    const closed = this.#accepted.filter((each) => each.deref()?.destroyed === true).map(() => CLOSED_SOCKET)
    const events: ReadonlyArray<string | symbol> = process.eventNames()
    const emitter: EventEmitter = process
    const listeners = events.flatMap((event) => emitter.listeners(event).map(() => "listener"))
    const counts: Record<string, number> = {}
    for (const kind of [...this.#live.values(), ...descriptors(), ...closed, ...listeners])
      counts[kind] = (counts[kind] ?? 0) + 1
    return counts
  }
}
