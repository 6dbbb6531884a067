import type { IncomingMessage } from "node:http"

/**
 * Whether a request names one host, as HTTP/1.1 demands (RFC 9112, 3.2). Node would refuse it without naming the request,
 * or take the first.
 */
export const hasOneHost = ({ httpVersion, rawHeaders }: IncomingMessage): boolean => {
  if (httpVersion !== "1.1") return true
  let hosts = 0
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index]
    if (name?.length === 4 && name.toLowerCase() === "host") hosts += 1
  }
  return hosts === 1
}
