import type { Load } from "./Load.ts"

/** A run of the load generator. */
export interface LoadRun {
  /** Of one server, or of several that connections are dealt to in turn. */
  readonly ports: ReadonlyArray<number>
  readonly load: Load
  /** Each keeps one request in flight. */
  readonly connections: number
  readonly warmUpSeconds: number
  readonly seconds: number
  /** So many requests a second are sent, whatever the answers do; without it, as many as are answered. */
  readonly requestsPerSecond?: number
  /** Root processes whose processor time is read at both ends of the measured time, by what they are called. */
  readonly watched: Readonly<Record<string, number>>
}

/** What was seen in the measured time of a run. */
export interface LoadResult {
  readonly seconds: number
  readonly requests: number
  /** Heartbeats or results in these requests. */
  readonly operations: number
  /** From sending, or from when the request was due, to the whole answer. */
  readonly p50Millis: number
  readonly p99Millis: number
  readonly maxMillis: number
  /** Processor time in the measured time, of `watched` and of the generator itself ("load"). */
  readonly cpuSeconds: Readonly<Record<string, number>>
  /** In the whole run, warm-up included. */
  readonly failures: number
  readonly firstFailure?: string
}
