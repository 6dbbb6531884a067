import { type IncomingHttpHeaders, STATUS_CODES } from "node:http"
import { errorStatus } from "@tocsin/contract/formats/Errors"
import { TAKEN } from "@tocsin/core/heart/usecases/ingestReplies"
import { errorBody, errorFields, type Failure } from "../response/failures.ts"
import { type Answered, fieldsOfEvery, httpDate } from "../response/headerFields.ts"

/** The head of an agent's request that every parser understands alike. */
export interface AgentHead {
  readonly method: "POST"
  readonly url: string
  readonly headers: IncomingHttpHeaders
  readonly bodyLength: number
  readonly to: "heartbeat" | "events"
}

const AGENT_LINE = /^POST (\/api\/v1\/(heartbeat|events)) HTTP\/1\.1$/
const NAME = /^[!#$%&'*+\-.^_`|~\dA-Za-z]+$/
const VALUE = /^[\t\x20-\x7e]*$/
const LENGTH = /^\d{1,7}$/

/** Fields that change the framing, the connection or the body, or that only browsers send. */
const UNUSUAL = [
  "content-encoding",
  "expect",
  "keep-alive",
  "origin",
  // node:http takes it for Connection.
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]

const agentLine = (line: string) => {
  const [, url, to] = AGENT_LINE.exec(line) ?? []
  if (url === undefined) return undefined
  return { method: "POST", url, to: to === "events" ? "events" : "heartbeat" } as const
}

/** The fields of a head by lower-case name; `undefined` if one is malformed or repeated. */
const fieldsOf = (lines: ReadonlyArray<string>): Record<string, string> | undefined => {
  const fields: Record<string, string> = {}
  for (const line of lines) {
    const colon = line.indexOf(":")
    const name = line.slice(0, Math.max(colon, 0)).toLowerCase()
    const value = line.slice(colon + 1)
    if (!NAME.test(name) || !VALUE.test(value) || Object.hasOwn(fields, name)) return undefined
    // The pattern lets only spaces and tabs pass of what trim() removes.
    fields[name] = value.trim()
  }
  return fields
}

/**
 * Parses the head of a request, without the empty line at its end, if no two parsers could
 * read it differently: HTTP/1.1, each field in ASCII and there once, one host, a length in digits,
 * a connection that stays open. Returns `undefined` for any other head, which node:http then parses.
 */
export const parseHead = (text: string): AgentHead | undefined => {
  const [line = "", ...lines] = text.split("\r\n")
  const asked = agentLine(line)
  const headers = asked && fieldsOf(lines)
  if (asked === undefined || headers === undefined) return undefined
  const { host, connection = "keep-alive", "content-length": length } = headers
  if (host === undefined || connection.toLowerCase() !== "keep-alive") return undefined
  if (UNUSUAL.some((name) => Object.hasOwn(headers, name))) return undefined
  return length !== undefined && LENGTH.test(length)
    ? { ...asked, headers, bodyLength: Number(length) }
    : undefined
}

/** Both endpoints of the agents answer with it (docs/rules.md#the-v1-promise). */
export const ACCEPTED = 202

export type AgentAnswer = { readonly reply: object } | { readonly failure: Failure }

export const statusOf = (answer: AgentAnswer): number =>
  "reply" in answer ? ACCEPTED : errorStatus[answer.failure.code]

const linesOf = (fields: Readonly<Record<string, string>>): string => {
  let lines = ""
  for (const name in fields) lines += `${name}: ${fields[name]}\r\n`
  return lines
}

/** The fields of every answer around its request ID: most of an answer is the same each time. */
const aroundRequestId = (isFinal: boolean): ReadonlyArray<string> =>
  linesOf(fieldsOfEvery({ requestId: "\0", isFinal })).split("\0")

const EVERY = { last: aroundRequestId(true), other: aroundRequestId(false) }

/** The time at which an answer is written, and the state of its connection. */
export interface Circumstances extends Answered {
  readonly millis: number
  readonly keepAliveSeconds: number
}

/** The last lines of a head: those that depend on when it is written. */
const lastLines = ({ isFinal, keepAliveSeconds, millis }: Circumstances): string =>
  isFinal
    ? `date: ${httpDate(millis)}\r\n\r\n`
    : `date: ${httpDate(millis)}\r\nConnection: keep-alive\r\nKeep-Alive: timeout=${keepAliveSeconds}\r\n\r\n`

const headOf = (status: number, length: number): string =>
  `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\ncontent-type: application/json\r\ncontent-length: ${length}\r\n`

const TAKEN_BODY = JSON.stringify(TAKEN)
const TAKEN_HEAD = headOf(ACCEPTED, Buffer.byteLength(TAKEN_BODY))

/** An answer as bytes of HTTP/1.1: the same fields in the same order as the API and node:http write. */
export const answerText = (answer: AgentAnswer, circumstances: Circumstances): string => {
  const { isFinal, requestId } = circumstances
  const isReply = "reply" in answer
  const [before, after] = isFinal ? EVERY.last : EVERY.other
  // Most answers.
  if (isReply && answer.reply === TAKEN)
    return `${TAKEN_HEAD}${before}${requestId}${after}${lastLines(circumstances)}${TAKEN_BODY}`
  const body = JSON.stringify(isReply ? answer.reply : errorBody(answer.failure, requestId))
  const head = headOf(statusOf(answer), Buffer.byteLength(body))
  const own = isReply ? "" : linesOf(errorFields(answer.failure))
  return `${head}${own}${before}${requestId}${after}${lastLines(circumstances)}${body}`
}
