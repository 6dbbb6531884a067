import { randomUUID } from "node:crypto"
import { errorStatus } from "@tocsin/adapter-http/api/ApiErrors"
import { fieldsOfEvery } from "@tocsin/adapter-http/response/headerFields"
import type { ErrorCode } from "@tocsin/core/contract/Errors"

/** An error that is told before the API is reached, in the API's own form. */
export interface HostError {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** The answer to a request that cannot be given to the API. */
const hostError = (code: ErrorCode, message: string): HostError => {
  const request_id = randomUUID()
  return {
    status: errorStatus[code],
    headers: {
      "content-type": "application/json",
      ...fieldsOfEvery({ requestId: request_id, isFinal: false }),
    },
    body: JSON.stringify({ error: { code, message, request_id } }),
  }
}

/** What a closed monitor answers. */
export const closedAnswer = (): HostError => hostError("not_ready", "the service has stopped")

/** What is answered where something read the body first and left nothing of it. */
export const bodyIsGone = (): HostError =>
  hostError(
    "internal",
    "the request's body was read before it reached Tocsin, and nothing of it was left: mount Tocsin before what parses bodies",
  )
