import { type Agent, request as secureRequest } from "node:https"
import { connect as connectSession, constants } from "node:http2"
import { type IncomingHttpHeaders, request as plainRequest } from "node:http"
import { connect as connectSecurely } from "node:tls"
import { Effect } from "effect"
import { type Proxy, SITE } from "./Proxy.ts"

/** A client's request to a proxy. */
export interface Asked {
  readonly method?: string
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Buffer
  /** By http instead of https. */
  readonly isPlain?: boolean
  /** The client's address, of those of this machine. */
  readonly from?: string
  /** The body comes in chunks, without its length. */
  readonly isChunked?: boolean
  readonly agent?: Agent
}

/** The proxy's answer. */
export interface Notified {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
}

/** Sends a request by HTTP/1.1; dies where no answer comes. */
export const ask = (proxy: Proxy, asked: Asked): Effect.Effect<Notified> =>
  Effect.orDie(
    Effect.callback<Notified, Error>((resume) => {
      const { method = "GET", path, headers, body, isPlain = false, from, isChunked = false, agent } = asked
      const outgoing = (isPlain ? plainRequest : secureRequest)(
        {
          host: "127.0.0.1",
          port: isPlain ? proxy.httpPort : proxy.httpsPort,
          method,
          path,
          headers: {
            host: SITE,
            ...(body !== undefined && !isChunked && { "content-length": String(Buffer.byteLength(body)) }),
            ...headers,
          },
          ...(!isPlain && { ca: proxy.certificate, servername: SITE }),
          ...(from !== undefined && { localAddress: from }),
          ...(agent !== undefined && { agent }),
        },
        (incoming) => {
          const parts: Array<Buffer> = []
          incoming.on("data", (part: Buffer) => parts.push(part))
          incoming.on("error", (error) => resume(Effect.fail(error)))
          incoming.on("end", () => {
            const text = Buffer.concat(parts).toString()
            resume(Effect.succeed({ status: incoming.statusCode ?? 0, headers: incoming.headers, text }))
          })
        },
      )
      // The proxy may close while the body is still being sent: the first outcome counts.
      outgoing.on("error", (error) => resume(Effect.fail(error)))
      outgoing.end(body)
    }),
  )

/** Sends GET requests side by side on one connection by HTTP/2; gives their statuses. */
export const askByHttp2 = (
  proxy: Proxy,
  paths: ReadonlyArray<string>,
): Effect.Effect<ReadonlyArray<number>> =>
  Effect.scoped(
    Effect.gen(function* () {
      const session = yield* Effect.acquireRelease(
        Effect.sync(() =>
          connectSession(`https://${SITE}`, {
            createConnection: () =>
              connectSecurely({
                host: "127.0.0.1",
                port: proxy.httpsPort,
                servername: SITE,
                ca: proxy.certificate,
                ALPNProtocols: ["h2"],
              }),
          }),
        ),
        (opened) => Effect.sync(() => opened.destroy()),
      )
      const one = (path: string) =>
        Effect.orDie(
          Effect.callback<number, Error>((resume) => {
            const stream = session.request({ [constants.HTTP2_HEADER_PATH]: path })
            let status = 0
            stream.on("response", (headers) => {
              status = Number(headers[constants.HTTP2_HEADER_STATUS])
            })
            stream.on("error", (error) => resume(Effect.fail(error)))
            stream.on("end", () => resume(Effect.succeed(status)))
            stream.resume()
            stream.end()
          }),
        )
      return yield* Effect.forEach(paths, one, { concurrency: "unbounded" })
    }),
  )
