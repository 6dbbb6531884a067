import type { IncomingMessage } from "node:http"
import type { AgentCalls, Sender } from "../handlers/agentCalls.ts"
import { hasOneHost } from "../request/hasOneHost.ts"
import { MAX_BODY_BYTES } from "../request/RequestBody.ts"

/** A request of an agent about which there is nothing unusual, up to its body. */
export interface UsualRequest {
  readonly endpoint: keyof AgentCalls
  readonly sender: Sender
}

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
const hasPlainBody = ({ headers }: IncomingMessage): boolean =>
  // Number("") is 0, and Node has seen to it that anything else is digits.
  Number(headers["content-length"] ?? Number.NaN) <= MAX_BODY_BYTES &&
  headers["transfer-encoding"] === undefined &&
  headers["content-encoding"] === undefined &&
  headers["expect"] === undefined

/**
 * Recognises a usual request of an agent by its head. `undefined` for any other: none of the rules is applied here, so that
 * what would be refused goes where it is refused, with its reasons.
 */
export const usualRequest = (
  message: IncomingMessage,
  senderOf: (message: IncomingMessage) => Sender | undefined,
): UsualRequest | undefined => {
  const endpoint = message.method === "POST" ? endpointOf(message.url) : undefined
  if (endpoint === undefined || !hasPlainBody(message) || !hasOneHost(message)) return undefined
  const sender = senderOf(message)
  return sender && { endpoint, sender }
}
