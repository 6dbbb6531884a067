import type { IncomingMessage, ServerResponse } from "node:http"
import type { Activity } from "./Activity.ts"
import { bodyIsGone, closedAnswer, type HostError } from "./hostError.ts"
import { type ParsedRequest, replayedRequest } from "./replayedRequest.ts"

/** A listener for node:http and a handler for Express. With `next`, what is at no path of Tocsin's is passed on. */
export type NodeListener = (
  request: IncomingMessage,
  response: ServerResponse,
  next?: (error?: unknown) => void,
) => void

interface NodeListenerOptions {
  readonly node: (request: IncomingMessage, response: ServerResponse) => void
  readonly basePath: string
  /** Whether there is something at `/metrics`. */
  readonly hasMetrics: boolean
  readonly isClosed: () => boolean
  readonly activity: Activity
}

const METRICS = /^\/metrics(?:\?|$)/
const OURS = /^\/(?:api\/v1|ops\/v1|docs)\/|^\/(?:openapi\.json|docs)(?:\?|$)/

const answer = (response: ServerResponse, { status, headers, body }: HostError): void => {
  response.writeHead(status, headers).end(body)
}

/** The API as a listener. A body that `express.json()` and the like have read is taken from `request.body`. */
export const nodeListener =
  ({ node, basePath, hasMetrics, isClosed, activity }: NodeListenerOptions): NodeListener =>
  (request: ParsedRequest, response, next) => {
    const { url = "" } = request
    const path = basePath !== "" && url.startsWith(`${basePath}/`) ? url.slice(basePath.length) : url
    const isOurs = OURS.test(path) || (hasMetrics && METRICS.test(path))
    if (typeof next === "function" && !isOurs) return next()
    if (isClosed()) return answer(response, closedAnswer())
    response.once("close", activity.begin())
    if (!request.readableDidRead) return node(request, response)
    if (request.body === undefined) return answer(response, bodyIsGone())
    node(replayedRequest(request), response)
  }
