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

/** Runtimes and proxies resolve the segments `.` and `..`, so IDs of these names are encoded twice. */
const segment = (agentId: string): string =>
  /^\.{1,2}$/.test(agentId) ? agentId.replaceAll(".", "%252E") : encodeURIComponent(agentId)

/** Where a request goes over HTTP. */
export const targetOf = ({ kind, server, agentId }: OutgoingRequest) => {
  const base = withoutTrailing(server, "/")
  return kind === "declaration"
    ? { method: "PUT", url: `${base}/ops/v1/agents/${segment(agentId)}/expectations` }
    : { method: "POST", url: `${base}/api/v1/${kind}` }
}
