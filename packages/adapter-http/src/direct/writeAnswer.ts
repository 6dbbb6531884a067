import type { ServerResponse } from "node:http"
import { errorStatus } from "../api/ApiErrors.ts"
import { errorBody, type Failure } from "../response/errorResponse.ts"
import { fieldsOfEvery } from "../response/fieldsOfEvery.ts"

/** Both endpoints of the agents answer with it (contract, endpoints). */
const ACCEPTED = 202

/** What a request of an agent is answered with: the reply of a use case, or why there is none. */
export type DirectAnswer = { readonly reply: object } | { readonly failure: Failure }

/** Writes an answer as the API writes it, field by field in the same order. Returns its status. */
export const writeAnswer = (
  response: ServerResponse,
  answer: DirectAnswer,
  { requestId, isDraining }: { readonly requestId: string; readonly isDraining: boolean },
): number => {
  const failure = "failure" in answer ? answer.failure : undefined
  const status = failure === undefined ? ACCEPTED : errorStatus[failure.code]
  const body = JSON.stringify("reply" in answer ? answer.reply : errorBody(answer.failure, requestId))
  response.writeHead(status, {
    "content-type": "application/json",
    "content-length": Buffer.byteLength(body),
    ...failure?.headers,
    ...fieldsOfEvery({ url: response.req.url ?? "", requestId, isFinal: isDraining }),
  })
  response.end(body)
  return status
}
