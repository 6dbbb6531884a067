import { RUNS_FACTOR } from "@tocsin/testing/propertyRuns"
import { skippedFor } from "@tocsin/testing/StorageUnderTest"

/**
 * Whether tests may take minutes, as in `npm run test:long`. A suite that repeats what others prove
 * takes part in every run with a sample, and is whole here.
 */
export const AT_LENGTH = RUNS_FACTOR > 1

/** Why a test is skipped that takes minutes or repeats what others prove; `undefined` if it is not. */
export const whyNotAtLength = AT_LENGTH ? undefined : "npm run test:long runs it"

/** The end of the name of a test that `AT_LENGTH` decides on. */
export const unlessAtLength = skippedFor(whyNotAtLength)

/** Of these, one in turn: that of a place, counted from 0. All of them if tests may take minutes. */
export const inTurn = <A>(every: ReadonlyArray<A>, place: number): ReadonlyArray<A> =>
  AT_LENGTH ? every : every.filter((_, at) => at === place % every.length)
