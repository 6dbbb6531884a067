import type { CheckReport } from "./CheckReport.ts"

/** A report with the id that it keeps, and the earliest time that it may state. */
export interface PendingResult {
  readonly report: CheckReport
  readonly id: string
  readonly at: number
  /** Whether the server's time has corrected `at`. */
  readonly isServerTime?: boolean
}

/** A result on its way to the server. */
export interface OutgoingResult {
  readonly id: string
  readonly checkId: string
  readonly body: string
}

/** What a {@link Sender} needs to know of the results that wait. */
export interface ResultQueue<Result extends OutgoingResult = OutgoingResult> {
  /** How many results wait, those in flight included. */
  readonly size: () => number
  /** Whether a change of status waits; `false` where only repeats do. */
  readonly hasChange: () => boolean
  /** The oldest results that fit together, in order. */
  readonly take: (limit: number, maxBytes: number) => ReadonlyArray<Result>
  /** The server has taken these. */
  readonly acknowledge: (results: ReadonlyArray<Result>) => void
  /** The server will never take this one. */
  readonly reject: (result: Result, reason: string) => void
  /** These wait again, in their places. */
  readonly putBack: (results: ReadonlyArray<Result>) => void
  /** Remembers something for people, or for the next start. */
  readonly setNote: (name: string, value: string) => void
}
