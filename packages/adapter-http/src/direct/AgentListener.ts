import type { IncomingMessage, ServerResponse } from "node:http"
import { Effect, Tracer } from "effect"
import type { ApiOptions } from "../ApiRoutes.ts"
import { hasOneHost } from "../request/hasOneHost.ts"
import { announcedBytes } from "../request/RequestBody.ts"
import { AgentRequest } from "./AgentRequest.ts"
import { type Surroundings, surroundings } from "./Surroundings.ts"
import { usualRequest } from "./usualRequest.ts"

/** Takes a request of node:http, or leaves it alone and returns `false`. */
export type Listener = (message: IncomingMessage, response: ServerResponse) => boolean

const leaveAlone: Listener = () => false

/** Takes usual requests of agents from node:http. */
export const listener =
  (around: Surroundings): Listener =>
  (message, response) => {
    const usual = hasOneHost(message) ? usualRequest(message, around.senderOf) : undefined
    if (usual === undefined) return false
    const arrival = { ...usual.sender, bytes: announcedBytes(message) }
    const visit = around.bodies.tryEnter(arrival, around.now)
    if (visit === undefined) return false
    new AgentRequest(around, response, { ...usual, visit }).begin()
    return true
  }

/**
 * Takes usual requests of agents straight from node:http, past the router and the layers of the API: a fraction of the cost
 * for what nearly all requests are (docs/decisions/0005). It applies the API's own rules, and leaves what is unusual to the
 * API. With a tracer it leaves everything, because the API makes the spans.
 */
export const make = Effect.fnUntraced(function* (options: ApiOptions) {
  const isTraced = (yield* Tracer.Tracer) !== Tracer.nativeTracer
  return isTraced ? leaveAlone : listener(yield* surroundings(options))
})
