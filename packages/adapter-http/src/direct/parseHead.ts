import type { IncomingHttpHeaders } from "node:http"

/** A head that is beyond question, and the length that it gives its body. */
export interface ParsedHead {
  readonly method: string
  readonly url: string
  readonly headers: IncomingHttpHeaders
  readonly bodyLength: number
}

const REQUEST_LINE = /^(POST) (\/[\w/]+) HTTP\/1\.1$/
const NAME = /^[!#$%&'*+\-.^_`|~\dA-Za-z]+$/
const VALUE = /^[\t\x20-\x7e]*$/
const LENGTH = /^\d{1,7}$/

/** With these a request is for node:http: they change how it is framed, or what becomes of its connection, or come from browsers. */
const UNUSUAL = ["expect", "keep-alive", "origin", "te", "trailer", "transfer-encoding", "upgrade"]

/** The fields of a head by their names in lower case. `undefined` if one is malformed, or there twice. */
const fieldsOf = (lines: ReadonlyArray<string>): Record<string, string> | undefined => {
  const fields: Record<string, string> = {}
  for (const line of lines) {
    const colon = line.indexOf(":")
    const name = line.slice(0, Math.max(colon, 0)).toLowerCase()
    const value = line.slice(colon + 1)
    if (!NAME.test(name) || !VALUE.test(value) || Object.hasOwn(fields, name)) return undefined
    // Of what trims, the pattern lets pass only space and tab.
    fields[name] = value.trim()
  }
  return fields
}

/**
 * Parses the head of a request, without the empty line at its end, if every parser would understand it alike: HTTP/1.1, fields
 * in ASCII and each there once, one host, a length in digits, a connection that is kept. `undefined` for any other, which is no
 * judgement: node:http parses it.
 */
export const parseHead = (text: string): ParsedHead | undefined => {
  const [line = "", ...lines] = text.split("\r\n")
  const [, method, url] = REQUEST_LINE.exec(line) ?? []
  const headers = method === undefined ? undefined : fieldsOf(lines)
  if (method === undefined || url === undefined || headers === undefined) return undefined
  const { host, connection = "keep-alive", "content-length": length = "" } = headers
  if (host === undefined || connection.toLowerCase() !== "keep-alive" || !LENGTH.test(length))
    return undefined
  if (UNUSUAL.some((name) => Object.hasOwn(headers, name))) return undefined
  return { method, url, headers, bodyLength: Number(length) }
}
