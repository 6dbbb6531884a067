import { withoutTrailing } from "@tocsin/contract/withoutTrailing"
import type { HttpAnswer, RequestKind } from "./Answer.ts"

/** A request to one server. */
export interface OutgoingRequest {
  readonly kind: RequestKind
  /** The address of the server, as it is configured. */
  readonly server: string
  readonly agentId: string
  readonly key: string
  readonly body: string
}

/** Sends a request and resolves with its answer; rejects where none came in time. */
export interface Transport {
  readonly send: (request: OutgoingRequest) => Promise<HttpAnswer>
}

/** Where a request goes over HTTP. */
export const targetOf = ({ kind, server, agentId }: OutgoingRequest) => {
  const base = withoutTrailing(server, "/")
  return kind === "declaration"
    ? { method: "PUT", url: `${base}/ops/v1/agents/${encodeURIComponent(agentId)}/expectations` }
    : { method: "POST", url: `${base}/api/v1/${kind}` }
}
