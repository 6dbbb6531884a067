import { Effect } from "effect"
import { pathOf } from "../request/plainPath.ts"

/** A request that has been answered. */
export interface AnsweredRequest {
  readonly method: string
  readonly url: string
  readonly status: number
  readonly nanos: bigint
  readonly requestId: string
}

/** The one line that each request leaves in the log at its debug level. A query may hold anything: it is not told. */
export const logRequest = ({ method, url, status, nanos, requestId }: AnsweredRequest): Effect.Effect<void> =>
  Effect.annotateLogs(Effect.logDebug("request"), {
    method,
    path: pathOf(url),
    status,
    duration_ms: Number(nanos) / 1e6,
    request_id: requestId,
  })
