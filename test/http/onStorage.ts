import { it, layer, type Vitest } from "@effect/vitest"
import { Effect, Layer, type Scope } from "effect"
import type { StorageUnderTest } from "@tocsin/testing/StorageUnderTest"
import { Tocsin, type TocsinOptions } from "./service/Tocsin.ts"

/** A test of the service; it fails by throwing. */
export type Scenario<E = never> = Effect.Effect<void, E, Tocsin | Scope.Scope>

/** A storage, and whether the service on it has a tracer. */
export interface HttpSubject<Place> extends StorageUnderTest<Place> {
  readonly traced?: boolean
}

/** Ways to test the service on one storage. */
export const onStorage = <Place>({ client, place, traced }: HttpSubject<Place>) => {
  const tocsin = (options?: TocsinOptions) =>
    Tocsin.layer(Layer.fresh(Layer.provide(client, place)), { traced, ...options })
  return {
    /** A service of its own on a new, empty storage each time it is built. */
    tocsin,
    /** A test over a service of its own. */
    scenario: <F>(name: string, run: () => Scenario<F>, options?: TocsinOptions) =>
      it.live(name, () => Effect.provide(run(), tocsin(options))),
    /** Tests that share a service, and mind nothing that the others leave there. */
    together: (name: string, tests: (it: Vitest.MethodsNonLive<Tocsin>) => void, options?: TocsinOptions) =>
      layer(tocsin(options), { excludeTestServices: true })(name, tests),
  }
}
