import type { Load } from "./Load.ts"
import type { ProtocolName } from "./protocols/protocols.ts"

/** A run of the load generator. */
export interface LoadRun {
  /** The ports of the servers; connections are distributed in turn. */
  readonly ports: ReadonlyArray<number>
  readonly load: Load
  /** Tocsin's unless given. */
  readonly protocol?: ProtocolName
  /** Each keeps one request in flight. */
  readonly connections: number
  readonly warmUpSeconds: number
  readonly seconds: number
  /** Ends the run earlier, once so many are sent. */
  readonly requests?: number | undefined
  /** A fixed rate; without it, each answer triggers the next request. */
  readonly requestsPerSecond?: number
  /** Root processes, by name, whose processor time is read before and after. */
  readonly watched: Readonly<Record<string, number>>
}

/** The measurements of a run. */
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
