import { IncomingMessage } from "node:http"
import { Duration, Effect, Stream } from "effect"
import { HttpServerResponse, type HttpServerRequest } from "effect/http"
import { MAX_BODY_BYTES } from "../request/RequestBody.ts"

const LINGER = Duration.seconds(1)

/** The server reads so much of a body that nobody wanted without being told to, and keeps the connection. */
const DRAINED_BYTES = 256 * 1024

/**
 * The message whose body is left, if an answer now comes so early that too much is left of it to keep the connection
 * for. `undefined` also where the connection is the business of a host server.
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
 * An answer given before the request's body is read to its end: it is sent at once, then up to 1 MiB or 1 s more of the
 * body is read and dropped before the connection is closed. Closing it on a client that is still sending would reset
 * the connection, and the client would not see the answer (docs/rules.md#bodies).
 */
export const lingering = (
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
