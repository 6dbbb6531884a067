import process from "node:process"
import { Effect } from "effect"
import * as fc from "fast-check"
import { propertyRuns, propertySeed, RUNS_FACTOR } from "./propertyRuns.ts"

/** The time limit of a property with its shrinking; the runs that passed by then count, if one did. */
const PATIENCE_MILLIS = Math.max(30_000, 90_000 * RUNS_FACTOR)

/** A run that takes longer hangs and fails the property, unless it says otherwise. Else it would count as passed. */
const RUN_MILLIS = 45_000

/** The time limit of a test of one property: its patience, and time for the run under way. */
export const PROPERTY_TIMEOUT_MILLIS = PATIENCE_MILLIS + 120_000

/**
 * Tests a property of generated values inside a test. A failure prints the smallest counterexample
 * that was found, its seed and its path. `PROPERTY_SEED` and `PROPERTY_PATH` in the environment run
 * that one again; `PROPERTY_RUNS=20` runs every property twenty times as often.
 */
export const forAll = <A, E, R>(
  arbitrary: fc.Arbitrary<A>,
  { runMillis = RUN_MILLIS, runs }: { readonly runs: number; readonly runMillis?: number },
  property: (value: A) => Effect.Effect<void, E, R>,
): Effect.Effect<void, never, R> =>
  Effect.contextWith((context) =>
    Effect.promise((signal) =>
      fc.assert(
        fc.asyncProperty(arbitrary, (value) => Effect.runPromiseWith(context)(property(value), { signal })),
        {
          numRuns: propertyRuns(runs),
          interruptAfterTimeLimit: PATIENCE_MILLIS,
          timeout: runMillis,
          ...(propertySeed !== undefined && { seed: propertySeed }),
          ...(process.env["PROPERTY_PATH"] !== undefined && { path: process.env["PROPERTY_PATH"] }),
        },
      ),
    ),
  )
