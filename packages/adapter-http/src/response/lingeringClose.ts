import { IncomingMessage } from "node:http"
import { Duration, Effect, Stream } from "effect"
import { HttpServerResponse, type HttpServerRequest } from "effect/http"
import { MAX_BODY_BYTES } from "../request/RequestBody.ts"

const LINGER = Duration.seconds(1)

/** Node reads and drops this much of an unread body by itself, and keeps the connection. */
const DRAINED_BYTES = 256 * 1024

/**
 * The message of a request whose answer comes so early that too much of its body is left to keep
 * the connection. `undefined` also if the connection belongs to a host server.
 */
export const unreadSource = ({
  source,
  headers,
}: HttpServerRequest.HttpServerRequest): IncomingMessage | undefined =>
  source instanceof IncomingMessage &&
  !source.complete &&
  (headers["transfer-encoding"] !== undefined || Number(headers["content-length"]) > DRAINED_BYTES)
    ? source
    : undefined

const dropRest = (source: IncomingMessage) =>
  Effect.callback<void>((resume) => {
    const stop = () => resume(Effect.void)
    let dropped = 0
    const onData = (chunk: Buffer) => {
      dropped += chunk.length
      if (dropped > MAX_BODY_BYTES) stop()
    }
    source.on("data", onData)
    source.on("end", stop)
    source.on("close", stop)
    source.resume()
    return Effect.sync(() => source.off("data", onData))
  }).pipe(Effect.timeoutOption(LINGER))

/**
 * An answer before the end of the request's body. It is sent immediately; then up to 1 MiB or 1 s
 * more of the body is read and dropped before the connection closes. Closing it on a client that is
 * still sending would reset it, and the client would not see the answer (docs/rules.md#bodies).
 */
export const lingeringClose = (
  response: HttpServerResponse.HttpServerResponse,
  source: IncomingMessage,
): HttpServerResponse.HttpServerResponse => {
  const { body } = response
  if (body._tag !== "Uint8Array") return response
  return HttpServerResponse.stream(
    Stream.concat(Stream.succeed(body.body), Stream.drain(Stream.fromEffect(dropRest(source)))),
    {
      status: response.status,
      headers: response.headers,
      contentType: body.contentType,
      contentLength: body.contentLength,
    },
  )
}
