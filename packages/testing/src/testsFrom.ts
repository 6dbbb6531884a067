import type { Vitest } from "@effect/vitest"
import { Effect } from "effect"

/**
 * Makes tests that begin alike: `open` gives each what its generator takes. `register` is `it.effect` or `it.live`,
 * or that of a layer.
 */
export const testsFrom =
  <A, E, R>(open: Effect.Effect<A, E, NoInfer<R>>, register: Vitest.Test<R>) =>
  (name: string, test: (opened: A) => Effect.fn.Return<void, unknown, R>): void =>
    register(name, () => Effect.flatMap(open, (opened) => Effect.gen(() => test(opened))))
