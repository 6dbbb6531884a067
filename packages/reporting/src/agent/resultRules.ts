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

/** How a result follows the last one of its check. */
export interface Stamp {
  readonly observedAt: number
  readonly isChange: boolean
}

/** Times of a check increase strictly, because the server ignores results that are older than the last. */
export const stampAfter = (previous: CheckState | undefined, outcome: Outcome, at: number): Stamp => ({
  observedAt: previous === undefined ? at : Math.max(at, previous.observedAt + 1),
  isChange: previous === undefined || !isSameOutcome(previous, outcome),
})

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
