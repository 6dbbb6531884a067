import { ValidationError } from "@tocsin/core/contract/ValidationError"
import { ByteSize, Effect, type Schema } from "effect"
import { HttpIncomingMessage, type HttpServerError, type HttpServerRequest } from "effect/http"
import { PayloadTooLarge, Validation } from "./api/ApiErrors.ts"
import { RequestId } from "./RequestId.ts"

/** The largest body that is accepted, in bytes (contract, limits). */
export const MAX_BODY_BYTES = 1_048_576

const refuse = (message: string) =>
  Effect.flatMap(RequestId, (request_id) => Effect.fail(new Validation({ message, request_id })))

const notUtf8 = refuse("the request body must be UTF-8")
const notJson = refuse("the request body must be JSON")
void notUtf8

const tooLarge = Effect.flatMap(RequestId, (request_id) =>
  Effect.fail(new PayloadTooLarge({ message: "the request body must not be larger than 1 MiB", request_id })),
)

const decoder = new TextDecoder("utf-8", { fatal: true })

export const readJson = Effect.fnUntraced(function* (request: HttpServerRequest.HttpServerRequest) {
  if (Number(request.headers["content-length"]) > MAX_BODY_BYTES) return yield* tooLarge
  const bytes = yield* Effect.catch(
    Effect.provideService(request.arrayBuffer, HttpIncomingMessage.MaxBodySize, ByteSize.fromInputUnsafe(MAX_BODY_BYTES)),
    () => tooLarge,
  )
  return yield* Effect.catch(Effect.try(() => JSON.parse(decoder.decode(bytes)) as unknown), () => notJson)
})
