import type { IncomingHttpHeaders } from "node:http"
import type { Socket } from "node:net"
import type { AgentCalls, Sender } from "../handlers/agentCalls.ts"
import { MAX_BODY_BYTES } from "../request/RequestBody.ts"

/** What a request says before its body, and where. */
export interface RequestHead {
  readonly method?: string | undefined
  readonly url?: string | undefined
  readonly headers: IncomingHttpHeaders
  readonly socket: Socket
}

/** A request of an agent about which there is nothing unusual, up to its body. */
export interface UsualRequest {
  readonly endpoint: keyof AgentCalls
  readonly sender: Sender
}

/** Tells who sends a request, unless that needs a closer look. */
export type SenderOf = (head: RequestHead) => Sender | undefined

const endpointOf = (target: string | undefined): keyof AgentCalls | undefined => {
  switch (target) {
    case "/api/v1/heartbeat":
      return "heartbeat"
    case "/api/v1/events":
      return "events"
    default:
      return undefined
  }
}

/** Whether the body comes as it is and says how long it is, which is not too long. */
const hasPlainBody = ({ headers }: RequestHead): boolean =>
  // Number("") is 0, and it has been seen to that anything else is digits.
  Number(headers["content-length"] ?? Number.NaN) <= MAX_BODY_BYTES &&
  headers["transfer-encoding"] === undefined &&
  headers["content-encoding"] === undefined &&
  headers["expect"] === undefined

/**
 * Recognises a usual request of an agent by its head, which names one host. `undefined` for any other: none of the rules is
 * applied here, so that what would be refused goes where it is refused, with its reasons.
 */
export const usualRequest = (head: RequestHead, senderOf: SenderOf): UsualRequest | undefined => {
  const endpoint = head.method === "POST" ? endpointOf(head.url) : undefined
  if (endpoint === undefined || !hasPlainBody(head)) return undefined
  const sender = senderOf(head)
  return sender && { endpoint, sender }
}
