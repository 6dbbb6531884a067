import type { IncomingHttpHeaders } from "node:http"

/** The head of an agent's request that every parser understands alike. */
export interface AgentHead {
  readonly endpoint: "heartbeat" | "events"
  readonly headers: IncomingHttpHeaders
  readonly bodyLength: number
}

const REQUEST_LINE = /^POST \/api\/v1\/(heartbeat|events) HTTP\/1\.1$/
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
 * Parses the head of an agent's request, without the empty line at its end, if no two parsers could
 * read it differently: HTTP/1.1, each field in ASCII and there once, one host, a length in digits,
 * a connection that stays open. Returns `undefined` for any other head, which node:http then
 * parses.
 */
export const parseHead = (text: string): AgentHead | undefined => {
  const [line = "", ...lines] = text.split("\r\n")
  const endpoint = REQUEST_LINE.exec(line)?.[1]
  const headers = endpoint === undefined ? undefined : fieldsOf(lines)
  if (headers === undefined) return undefined
  const { host, connection = "keep-alive", "content-length": length = "" } = headers
  if (host === undefined || connection.toLowerCase() !== "keep-alive" || !LENGTH.test(length))
    return undefined
  if (UNUSUAL.some((name) => Object.hasOwn(headers, name))) return undefined
  return { endpoint: endpoint === "events" ? "events" : "heartbeat", headers, bodyLength: Number(length) }
}
