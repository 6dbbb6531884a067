import type { Redacted } from "effect"

type Unit = "millis" | "second" | "seconds" | "minute" | "minutes" | "hour" | "hours"

/** A length of time: `"5 seconds"`, or a number of milliseconds. */
export type ClientDuration = number | `${number} ${Unit}`

/** How a call that is safe to repeat is repeated. */
export interface RetryOptions {
  /** How often at most, after the first attempt. 5 unless given. */
  readonly times?: number | undefined
  /** How long all attempts and the pauses between them may take together. 1 minute unless given. */
  readonly within?: ClientDuration | undefined
}

/** What a client is made of. */
export interface ClientOptions {
  /** Where the service is: `https://monitoring.example`, with the path that comes before `/api/v1`, if there is one. */
  readonly baseUrl: string | URL
  /** A token of operators, for everything but heartbeats and events. */
  readonly token?: string | Redacted.Redacted | undefined
  /** An agent's key, for heartbeats and events. */
  readonly agentKey?: string | Redacted.Redacted | undefined
  /** No attempt takes longer. 15 seconds unless given. */
  readonly timeout?: ClientDuration | undefined
  /**
   * Reads, heartbeats and events are repeated, with growing pauses, while the connection fails or the answer is 408, 425, 429, 500,
   * 502, 503 or 504; not before the moment that the answer's Retry-After names. What operators decide is sent once, always.
   * `false` repeats nothing.
   */
  readonly retries?: RetryOptions | false | undefined
}
