import { IncomingMessage } from "node:http"
import { Socket } from "node:net"

/** The parts that hosts leave at a request. */
export interface ParsedRequest extends IncomingMessage {
  /** The body that a parser has read. */
  readonly body?: unknown
  /** The path that Express has taken off `url`. */
  readonly baseUrl?: string
}

const bytesOf = (body: unknown): string | Uint8Array => {
  if (typeof body === "string" || body instanceof Uint8Array) return body
  try {
    return JSON.stringify(body)
  } catch {
    // Nested so deep that it was parsed but cannot be written again: no JSON that any schema takes.
    return ""
  }
}

/** The same request, whose body a parser has read, with that body to be read again. */
export const replayedRequest = (request: ParsedRequest): IncomingMessage => {
  // A socket that only tells the client's address: what reads the copy must not act on the real
  // one.
  const socket = new Socket()
  Object.defineProperty(socket, "remoteAddress", { value: request.socket.remoteAddress })
  const copy = new IncomingMessage(socket)
  copy.method = request.method
  copy.url = request.url
  copy.httpVersion = request.httpVersion
  copy.httpVersionMajor = request.httpVersionMajor
  copy.httpVersionMinor = request.httpVersionMinor
  copy.rawHeaders = request.rawHeaders
  copy.headers = { ...request.headers }
  const bytes = Buffer.from(bytesOf(request.body))
  // Parsed bodies may be longer or shorter than the received ones.
  copy.headers["content-length"] = String(bytes.length)
  delete copy.headers["transfer-encoding"]
  copy.complete = true
  copy.push(bytes)
  copy.push(null)
  return copy
}
