import { STATUS_CODES } from "node:http"
import { errorStatus } from "@tocsin/contract/api/ApiErrors"
import { errorBody, errorFields, type Failure } from "../response/failures.ts"
import { fieldsOfEvery, httpDate } from "../response/headerFields.ts"

/** Both endpoints of the agents answer with it (docs/rules.md#the-v1-promise). */
const ACCEPTED = 202

/** The answer to an agent: the reply of a use case, or why there is none. */
export type AgentAnswer = { readonly reply: object } | { readonly failure: Failure }

/** The status of an answer. */
export const statusOf = (answer: AgentAnswer): number =>
  "reply" in answer ? ACCEPTED : errorStatus[answer.failure.code]

const linesOf = (fields: Readonly<Record<string, string>>): string => {
  let lines = ""
  for (const name in fields) lines += `${name}: ${fields[name]}\r\n`
  return lines
}

/** The circumstances besides the answer that decide its bytes. */
export interface Circumstances {
  readonly requestId: string
  /** The connection closes after the answer. */
  readonly isFinal: boolean
  readonly millis: number
  readonly keepAliveSeconds: number
}

/**
 * An answer as bytes of HTTP/1.1: the same fields in the same order as the API and node:http write.
 */
export const answerText = (
  answer: AgentAnswer,
  { requestId, isFinal, millis, keepAliveSeconds }: Circumstances,
): string => {
  const body = JSON.stringify("reply" in answer ? answer.reply : errorBody(answer.failure, requestId))
  const status = statusOf(answer)
  let text = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\ncontent-type: application/json\r\n`
  text += `content-length: ${Buffer.byteLength(body)}\r\n`
  if ("failure" in answer) text += linesOf(errorFields(answer.failure))
  text += linesOf(fieldsOfEvery({ requestId, isFinal }))
  text += `date: ${httpDate(millis)}\r\n`
  if (!isFinal) text += `Connection: keep-alive\r\nKeep-Alive: timeout=${keepAliveSeconds}\r\n`
  return `${text}\r\n${body}`
}
