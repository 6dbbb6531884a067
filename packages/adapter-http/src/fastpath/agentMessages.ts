import { type IncomingHttpHeaders, STATUS_CODES } from "node:http"
import { errorStatus } from "@tocsin/contract/Errors"
import { IntegrationKind } from "@tocsin/contract/Integrations"
import { errorBody, errorFields, type Failure } from "../response/failures.ts"
import { type Answered, fieldsOfEvery, fieldsOfShown, httpDate } from "../response/headerFields.ts"
import { type Addressed, addressed, DIALECTS, type SenderAnswer } from "../senders/dialects.ts"

interface Head {
  readonly method: "GET" | "POST"
  readonly url: string
  readonly headers: IncomingHttpHeaders
  readonly bodyLength: number
}

interface EndpointHead extends Head {
  readonly to: "heartbeat" | "events"
}

interface IntegrationHead extends Head {
  readonly to: IntegrationKind
  readonly about: Addressed
}

/** The head of an agent's or a sender's request that every parser understands alike. */
export type AgentHead = EndpointHead | IntegrationHead

export const isOfSender = (head: AgentHead): head is IntegrationHead => "about" in head

/** Senders' targets without the characters that the router treats in its own way: encoded ones must be UTF-8. */
const REQUEST_LINE =
  /^(?:(POST) (\/api\/v1\/(heartbeat|events))|(GET|POST) (\/in\/(ping|push|alertmanager|webhook)(?:\/[\w./=+:,~-]*)?(?:\?[\w./?%&=+:,~-]*)?)) HTTP\/1\.1$/
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
 * read it differently: HTTP/1.1, each field in ASCII and there once, one host, a length in digits
 * or none with GET, a connection that stays open. Returns `undefined` for any other head, which
 * node:http then parses.
 */
export const parseHead = (text: string): AgentHead | undefined => {
  const [line = "", ...lines] = text.split("\r\n")
  const [whole, post = "", path = "", endpoint, method = post, url = path, to = endpoint] =
    REQUEST_LINE.exec(line) ?? []
  const headers = whole === undefined ? undefined : fieldsOf(lines)
  if (headers === undefined) return undefined
  const { host, connection = "keep-alive", "content-length": length } = headers
  const isFramed = method === "GET" ? length === undefined : length !== undefined && LENGTH.test(length)
  if (host === undefined || connection.toLowerCase() !== "keep-alive" || !isFramed) return undefined
  if (UNUSUAL.some((name) => Object.hasOwn(headers, name))) return undefined
  // The pattern of the line has these methods alone.
  const head = { method, url, headers, bodyLength: Number(length ?? 0) } as Head
  const kind = IntegrationKind.literals.find((each) => each === to)
  if (kind === undefined) return { ...head, to: to === "events" ? "events" : "heartbeat" }
  if (!DIALECTS[kind].methods.includes(head.method)) return undefined
  const { authorization } = headers
  return { ...head, to: kind, about: addressed({ authorization, method, url }, DIALECTS[kind]) }
}

/** Both endpoints of the agents answer with it (docs/rules.md#the-v1-promise). */
const ACCEPTED = 202

export type AgentAnswer =
  | { readonly reply: object }
  | { readonly failure: Failure }
  | { readonly said: SenderAnswer }

export const statusOf = (answer: AgentAnswer): number => {
  if ("said" in answer) return answer.said.status
  return "reply" in answer ? ACCEPTED : errorStatus[answer.failure.code]
}

const linesOf = (fields: Readonly<Record<string, string>>): string => {
  let lines = ""
  for (const name in fields) lines += `${name}: ${fields[name]}\r\n`
  return lines
}

interface Circumstances extends Answered {
  readonly method: AgentHead["method"]
  readonly millis: number
  readonly keepAliveSeconds: number
}

/** A body with the header fields that belong to it. */
const contentOf = (answer: AgentAnswer, requestId: string): Omit<SenderAnswer, "status"> => {
  if ("said" in answer) return answer.said
  const body = JSON.stringify("reply" in answer ? answer.reply : errorBody(answer.failure, requestId))
  return {
    body,
    fields: {
      "content-type": "application/json",
      "content-length": String(Buffer.byteLength(body)),
      ...("failure" in answer && errorFields(answer.failure)),
    },
  }
}

/** An answer as bytes of HTTP/1.1: the same fields in the same order as the API and node:http write. */
export const answerText = (
  answer: AgentAnswer,
  { requestId, isFinal, method, millis, keepAliveSeconds }: Circumstances,
): string => {
  const { body, fields } = contentOf(answer, requestId)
  const status = statusOf(answer)
  let text = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n`
  text += linesOf({ ...fields, ...fieldsOfShown(method), ...fieldsOfEvery({ requestId, isFinal }) })
  text += `date: ${httpDate(millis)}\r\n`
  if (!isFinal) text += `Connection: keep-alive\r\nKeep-Alive: timeout=${keepAliveSeconds}\r\n`
  return `${text}\r\n${body}`
}
