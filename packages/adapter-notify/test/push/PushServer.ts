import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { Effect, Queue } from "effect"
import { type BrowserKeys, decryptBy, makeBrowser } from "./PushBrowser.ts"

/** A message as it arrived: what the push service sees, and what only the browser reads. */
export interface Arrived {
  readonly browser: string
  readonly headers: Readonly<Record<string, string | ReadonlyArray<string> | undefined>>
  readonly bytes: number
  readonly message: Readonly<Record<string, unknown>>
}

/** A push service of browsers on loopback, which knows the keys of its browsers, so that it reads their messages. */
export const startPushServer = Effect.gen(function* () {
  const arrived = yield* Queue.unbounded<Arrived>()
  const browsers = new Map<string, BrowserKeys>()
  /** Its answers for a browser, in order; 201 after that. */
  const answers = new Map<string, Array<number | readonly [status: number, retryAfter: string]>>()
  const server = createServer((request, response) => {
    const parts: Array<Buffer> = []
    request.on("data", (part: Buffer) => parts.push(part))
    request.on("end", () => {
      const browser = request.url?.slice(1) ?? ""
      const keys = browsers.get(browser)
      const body = Buffer.concat(parts)
      if (keys === undefined) return void response.writeHead(404).end()
      const message = JSON.parse(decryptBy(keys, body))
      Queue.offerUnsafe(arrived, { browser, headers: request.headers, bytes: body.length, message })
      const [status, retryAfter] = [answers.get(browser)?.shift() ?? 201].flat()
      response.writeHead(
        Number(status),
        retryAfter === undefined ? {} : { "retry-after": String(retryAfter) },
      )
      response.end("a secret of the push service")
    })
  })
  yield* Effect.acquireRelease(
    Effect.callback<void>((resume) => {
      server.listen(0, "127.0.0.1", () => resume(Effect.void))
    }),
    () =>
      Effect.sync(() => {
        server.closeAllConnections()
        server.close()
      }),
  )
  // A server that listens on TCP has such an address.
  const { port } = server.address() as AddressInfo
  const origin = `http://127.0.0.1:${port}`
  return {
    origin,
    arrived,
    answers,
    /** A browser that subscribed: what `PushSubscription.toJSON()` gives in it. */
    subscribe: (name: string) => {
      const keys = makeBrowser()
      browsers.set(name, keys)
      return {
        endpoint: `${origin}/${name}`,
        expirationTime: null,
        keys: { p256dh: keys.publicKey, auth: keys.auth },
      }
    },
  }
})
