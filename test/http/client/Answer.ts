import type { IncomingHttpHeaders } from "node:http"

/** A response of the service. */
export interface Answer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  /** The headers as they came: names and values in turn. */
  readonly rawHeaders: ReadonlyArray<string>
  readonly text: string
  /** The body parsed as JSON; `undefined` if it is not JSON. */
  readonly body: unknown
}

/** The parts of a request that its answer depends on. */
export interface Asked {
  readonly method: string
  readonly path: string
  readonly requestId: string | undefined
}

/** Whether an answer is a stream: its first part is enough, and leaving ends it. */
export const isEndless = ({ headers }: Pick<Answer, "headers">): boolean =>
  (headers["content-type"] ?? "").startsWith("text/event-stream")
