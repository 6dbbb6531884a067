import type { Server } from "node:net"
import { Effect, Redacted, type Scope } from "effect"

/**
 * Lets a proxy listen on a port of this machine, until the scope cuts it. Gives `target` as it is
 * reached that way.
 */
export const throughLoopback = Effect.fnUntraced(function* (
  server: Server,
  target: URL,
  cut: Effect.Effect<void>,
): Effect.fn.Return<Redacted.Redacted, never, Scope.Scope> {
  const port = yield* Effect.acquireRelease(
    Effect.callback<number>((resume) => {
      server.listen(0, "127.0.0.1", () => {
        const address = server.address()
        resume(Effect.succeed(typeof address === "object" && address !== null ? address.port : 0))
      })
    }),
    () =>
      Effect.andThen(
        cut,
        Effect.callback<void>((resume) => {
          server.close(() => resume(Effect.void))
        }),
      ),
  )
  return Redacted.make(
    Object.assign(new URL(target.href), { hostname: "127.0.0.1", port: String(port) }).href,
  )
})
