import { errorStatus } from "../api/ApiErrors.ts"
import { errorBody, type Failure } from "../response/errorResponse.ts"
import { fieldsOfEvery } from "../response/fieldsOfEvery.ts"

/** Both endpoints of the agents answer with it (docs/rules.md#the-v1-promise). */
const ACCEPTED = 202

/** What a request of an agent is answered with: the reply of a use case, or why there is none. */
export type DirectAnswer = { readonly reply: object } | { readonly failure: Failure }

/** The status of an answer. */
export const statusOf = (answer: DirectAnswer): number =>
  "reply" in answer ? ACCEPTED : errorStatus[answer.failure.code]

/** What the header fields of an answer depend on besides it. */
export interface Circumstances {
  readonly requestId: string
  /** The connection ends with the answer. */
  readonly isDraining: boolean
}

/** An answer as it is written, by itself or by node:http. */
export interface WrittenAnswer {
  readonly status: number
  readonly fields: Readonly<Record<string, string>>
  readonly body: string
}

/** An answer as the API writes it, field by field in the same order. */
export const writtenAnswer = (
  answer: DirectAnswer,
  { requestId, isDraining }: Circumstances,
): WrittenAnswer => {
  const failure = "failure" in answer ? answer.failure : undefined
  const body = JSON.stringify("reply" in answer ? answer.reply : errorBody(answer.failure, requestId))
  return {
    status: statusOf(answer),
    fields: {
      "content-type": "application/json",
      "content-length": String(Buffer.byteLength(body)),
      ...failure?.headers,
      ...fieldsOfEvery({ requestId, isFinal: isDraining }),
    },
    body,
  }
}
