import { IncomingMessage } from "node:http"
import { ByteSize, Effect } from "effect"
import { HttpIncomingMessage, type HttpServerRequest } from "effect/http"
import { PayloadTooLarge, Validation } from "../api/ApiErrors.ts"
import { RequestId } from "../RequestId.ts"

type Request = HttpServerRequest.HttpServerRequest

/** The largest body that is accepted, in bytes (contract, limits). */
export const MAX_BODY_BYTES = 1_048_576

const invalid = (message: string) =>
  Effect.flatMap(RequestId, (request_id) => Effect.fail(new Validation({ message, request_id })))

const encoded = invalid("the request body must come without a Content-Encoding")
const notUtf8 = invalid("the request body must be text in UTF-8")
const notJson = invalid("the request body must be JSON")
const cutShort = invalid("the request body must be as long as its headers say")

const tooLarge = Effect.flatMap(RequestId, (request_id) =>
  Effect.fail(
    new PayloadTooLarge({
      message: "the request body must not be larger than 1 MiB (1048576 bytes)",
      request_id,
    }),
  ),
)

/** Whether a request announces a body. */
const hasBody = ({ headers }: Request): boolean =>
  headers["transfer-encoding"] !== undefined || (headers["content-length"] ?? "0") !== "0"

/** Straight from Node: what most requests of a busy server come by, and the cheapest way. */
const readFromNode = (source: IncomingMessage) =>
  Effect.callback<Uint8Array, PayloadTooLarge | Validation>((resume) => {
    const chunks: Array<Buffer> = []
    let size = 0
    const onData = (chunk: Buffer) => {
      size += chunk.length
      if (size <= MAX_BODY_BYTES) return void chunks.push(chunk)
      source.off("data", onData)
      source.pause()
      resume(tooLarge)
    }
    source.on("data", onData)
    source.on("end", () =>
      resume(Effect.succeed(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks))),
    )
    source.on("error", () => resume(cutShort))
    source.on("close", () => resume(cutShort))
  })

const maxBodySize = ByteSize.fromInputUnsafe(MAX_BODY_BYTES)

const readFromAnywhere = (request: Request) =>
  request.arrayBuffer.pipe(
    Effect.provideService(HttpIncomingMessage.MaxBodySize, maxBodySize),
    Effect.catch(({ reason }): Effect.Effect<never, PayloadTooLarge | Validation> =>
      reason._tag === "RequestParseError" && reason.reason === "BodyTooLarge" ? tooLarge : cutShort,
    ),
    Effect.map((buffer) => new Uint8Array(buffer)),
  )

/** Reads a body of at most 1 MiB. Never holds more than that; a larger one is refused as soon as it is seen to be. */
const read = (request: Request): Effect.Effect<Uint8Array, PayloadTooLarge | Validation> => {
  const { source, headers } = request
  if (Number(headers["content-length"]) > MAX_BODY_BYTES) return tooLarge
  // A client that expects 100 Continue gets it from the platform only.
  return source instanceof IncomingMessage && headers["expect"] === undefined
    ? readFromNode(source)
    : readFromAnywhere(request)
}

/** Reads a body that is of no interest, so that its size is known. */
export const readIgnored = (request: Request): Effect.Effect<void, PayloadTooLarge> =>
  hasBody(request)
    ? Effect.catchTag(Effect.asVoid(read(request)), "Validation", () => Effect.void)
    : Effect.void

const decoder = new TextDecoder("utf-8", { fatal: true })

/** Reads a body as JSON, whatever its Content-Type (decisions §1). A byte order mark before it is ignored. */
export const readJson = Effect.fnUntraced(function* (request: Request) {
  const bytes = yield* read(request)
  if ((request.headers["content-encoding"] ?? "identity").toLowerCase() !== "identity") return yield* encoded
  const text = yield* Effect.catch(
    Effect.try(() => decoder.decode(bytes)),
    () => notUtf8,
  )
  // Text that is nested too deep makes JSON.parse throw a RangeError: no less an error of the sender.
  return yield* Effect.catch(
    Effect.try(() => JSON.parse(text) as unknown),
    () => notJson,
  )
})
