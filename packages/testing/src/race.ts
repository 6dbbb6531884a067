import { it } from "@effect/vitest"
import type { RuleOptions } from "@tocsin/core/kernel/ports/RuleSettings"
import { Effect, type Scope } from "effect"
import { RUNS_FACTOR } from "./propertyRuns.ts"
import { newPlace, type Replica } from "./Replica.ts"
import { because, type StorageUnderTest } from "./StorageUnderTest.ts"

/** Hands out replicas in turn. */
export type Turns = (n: number) => Replica

/** How those act who act at the same moment. */
export const atOnce = { concurrency: "unbounded" } as const

/** The outcome of an action, its refusal by name. */
export const outcomeOf = <A, E extends { readonly _tag: string }, R>(
  action: Effect.Effect<A, E, R>,
): Effect.Effect<A | string, never, R> =>
  Effect.match(action, { onSuccess: (reply): A | string => reply, onFailure: (error) => error._tag })

/** Where properties run less often than usual, one client takes part only if its race asks for it. */
const IS_SAMPLE = RUNS_FACTOR < 1

/**
 * A test of concurrent actions on one storage: through one client, and again through two if the
 * storage allows it. A sample tries only two there, unless the race is `alsoAlone`. It runs on the
 * live clock, since a storage may pause before it retries a conflict.
 */
export const race = <Place>(
  subject: StorageUnderTest<Place>,
  {
    alsoAlone = false,
    name,
    rules,
  }: { readonly name: string; readonly rules?: Partial<RuleOptions>; readonly alsoAlone?: boolean },
  body: (replica: Turns) => Effect.Effect<void, unknown, Scope.Scope>,
): void => {
  const run = (clients: number) =>
    Effect.gen(function* () {
      const open = yield* newPlace(subject, rules)
      const first = yield* open
      const replicas = [first, ...(yield* Effect.replicateEffect(open, clients - 1))]
      yield* body((n) => replicas[n % clients] ?? first)
    })
  if (alsoAlone || !IS_SAMPLE || subject.onlyOneClient !== undefined)
    it.live(`${name}: one client`, () => run(1))
  it.live.skipIf(subject.onlyOneClient !== undefined)(`${name}: two clients${because(subject)}`, () => run(2))
}
