import type { PendingResult } from "./ResultQueue.ts"
import type { CheckStatus } from "./CheckReport.ts"

/** The part of a result that decides whether it is a change. */
export interface Outcome {
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
