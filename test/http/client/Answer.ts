import type { IncomingHttpHeaders } from "node:http"

/** A response of the service. */
export interface Answer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  /** The headers as they came: names and values in turn. */
  readonly rawHeaders: ReadonlyArray<string>
  readonly text: string
  /** The body read as JSON; `undefined` where there is none. */
  readonly body: unknown
}

/** How a request was made, as far as its answer depends on it. */
export interface Asked {
  readonly method: string
  readonly path: string
  readonly requestId: string | undefined
}
