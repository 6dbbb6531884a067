import type { CheckReport, CheckStatus } from "./CheckReport.ts"

const encoder = new TextEncoder()

/** The first results whose bodies fit into a batch together: at least one. */
export const fitting = <Result extends OutgoingResult>(
  results: ReadonlyArray<Result>,
  maxBytes: number,
): ReadonlyArray<Result> => {
  let bytes = 0
  const end = results.findIndex(({ body }, index) => {
    bytes += encoder.encode(body).length + 1
    return bytes > maxBytes && index > 0
  })
  return end < 0 ? results : results.slice(0, end)
}

/** The part of a result that decides whether it is a change. */
interface Outcome {
  readonly status: CheckStatus
  readonly exitCode: number
}

/** The last result of a check. */
export interface CheckState extends Outcome {
  readonly observedAt: number
}

/** The server compares the same two fields (docs/rules.md#events). */
export const isSameOutcome = (a: Outcome, b: Outcome): boolean =>
  a.status === b.status && a.exitCode === b.exitCode

/** A time further ahead of the server's is of a clock that was wrong. */
export const AHEAD_MILLIS = 600_000

/**
 * Times of a check increase strictly, because the server ignores results that are older than the last.
 * A clock that was ahead once, the host's or the server's, does not keep them ahead.
 */
export const observedAfter = (
  previous: CheckState | undefined,
  { at, isServerTime = false }: Pick<PendingResult, "at" | "isServerTime">,
): number => {
  if (previous === undefined) return at
  return isServerTime && previous.observedAt - at > AHEAD_MILLIS ? at : Math.max(at, previous.observedAt + 1)
}

/**
 * Whether the last waiting result of a check is superseded by the next one: it repeats the one
 * before it and so does the next, so the server cannot tell the difference.
 */
export const isSuperseded = (
  [beforeLast, last]: readonly [beforeLast: Outcome | undefined, last: Outcome | undefined],
  next: Outcome,
): boolean =>
  beforeLast !== undefined &&
  last !== undefined &&
  isSameOutcome(beforeLast, last) &&
  isSameOutcome(last, next)

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

/** The waiting results, as a {@link Sender} needs to know them. */
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
