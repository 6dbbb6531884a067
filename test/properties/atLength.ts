import { RUNS_FACTOR } from "@tocsin/testing/propertyRuns"

/**
 * Whether tests may take minutes, as in `npm run test:long`. A suite that repeats what others prove
 * takes part in every run with a sample, and is whole here.
 */
export const AT_LENGTH = RUNS_FACTOR > 1
