import type { Socket } from "node:net"
import type { ApiOptions } from "../ApiRoutes.ts"
import type { Sender } from "../handlers/agentCalls.ts"
import { mayBeAgentKey } from "../request/authentication.ts"
import { usualToken } from "../request/BearerToken.ts"
import { clientAddress } from "../request/clientAddress.ts"
import type { SenderOf } from "./usualRequest.ts"

/** Whoever sent the last request of a connection, and how it was known. */
interface Known extends Sender {
  readonly authorization: string
  readonly forwardedFor: string | undefined
}

const LAST: unique symbol = Symbol("last sender")
interface Connection extends Socket {
  [LAST]?: Known
}

/**
 * Tells who sends a request, unless that needs a closer look. A connection that is kept is mostly of one agent, so the last
 * sender is kept with it: looking at the same headers again takes longer than all the rest of an answer's head.
 */
export const senders = ({ trustedHops = 0, allowedOrigins, ...tokens }: ApiOptions): SenderOf => {
  const isForBrowsers = allowedOrigins !== undefined
  const isAgentKey = mayBeAgentKey(tokens)
  const look = (connection: Connection, authorization: string, forwardedFor: string | undefined) => {
    const key = usualToken(authorization)
    if (key === undefined || !isAgentKey(key)) return undefined
    const address = clientAddress({ peer: connection.remoteAddress, forwardedFor }, trustedHops)
    const known: Known = { key, address, authorization, forwardedFor }
    connection[LAST] = known
    return known
  }
  return ({ socket, headers }) => {
    const connection: Connection = socket
    const { authorization } = headers
    const forwardedFor = headers["x-forwarded-for"]?.toString()
    const last = connection[LAST]
    if (authorization === undefined) return undefined
    // Pages of allowed origins are answered by the API, which tells browsers so.
    if (isForBrowsers && headers.origin !== undefined) return undefined
    return last?.authorization === authorization && last.forwardedFor === forwardedFor
      ? last
      : look(connection, authorization, forwardedFor)
  }
}
