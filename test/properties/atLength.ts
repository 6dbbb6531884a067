import { RUNS_FACTOR } from "@tocsin/testing/propertyRuns"

/**
 * Whether tests may take minutes, as in `npm run test:long`. A suite that repeats what others prove
 * takes part in every run with a sample, and is whole here.
 */
export const AT_LENGTH = RUNS_FACTOR > 1

/** The note of a test that is skipped unless tests may take minutes; `undefined` if they may. */
export const skippedForLength = AT_LENGTH ? undefined : "skipped: npm run test:long"

/** Of these, one in turn: that of a place, counted from 0. All of them if tests may take minutes. */
export const inTurn = <A>(every: ReadonlyArray<A>, place: number): ReadonlyArray<A> =>
  AT_LENGTH ? every : every.filter((_, at) => at === place % every.length)
