import { connect } from "node:net"
import { Effect, type Scope } from "effect"
import { until } from "./until.ts"

/** A connection for bytes that no HTTP library sends. */
export interface RawConnection {
  readonly write: (text: string) => Effect.Effect<void>
  /** The bytes received so far. */
  readonly received: () => string
  /** Waits until the server has closed it. Gives all that came. */
  readonly closed: Effect.Effect<string>
}

/**
 * Opens a connection to a port of this machine, and waits until it is there; it goes with the
 * scope.
 */
export const rawConnection = Effect.fnUntraced(function* (
  port: number,
): Effect.fn.Return<RawConnection, never, Scope.Scope> {
  let received = ""
  let isClosed = false
  const socket = yield* Effect.acquireRelease(
    Effect.callback<ReturnType<typeof connect>>((resume) => {
      const opened = connect({ port, host: "127.0.0.1", noDelay: true }, () => resume(Effect.succeed(opened)))
      opened.setEncoding("latin1")
      opened.on("data", (part) => (received += String(part)))
      opened.on("error", () => {})
      opened.on("close", () => (isClosed = true))
    }),
    (opened) => Effect.sync(() => opened.destroy()),
  )
  return {
    write: (text) => Effect.sync(() => void socket.write(text)),
    received: () => received,
    closed: Effect.as(
      until(
        "the server closes the connection",
        Effect.sync(() => isClosed),
      ),
      undefined,
    ).pipe(Effect.map(() => received)),
  }
})

/** Whether nothing listens on a port of this machine. */
export const isRefused = (port: number): Effect.Effect<boolean> =>
  Effect.callback((resume) => {
    const socket = connect({ port, host: "127.0.0.1" })
    socket.on("connect", () => {
      socket.destroy()
      resume(Effect.succeed(false))
    })
    socket.on("error", () => resume(Effect.succeed(true)))
  })
