import { it, layer, type Vitest } from "@effect/vitest"
import { Effect, Layer, type Scope } from "effect"
import type { StorageUnderTest } from "@tocsin/testing/StorageUnderTest"
import { Tocsin, type TocsinOptions } from "./service/Tocsin.ts"

/** A test of the service, which fails by throwing. */
export type Scenario<E = never> = Effect.Effect<void, E, Tocsin | Scope.Scope>

/** A storage, and the path of agents' requests to the service on it. */
export interface HttpSubject<Place> extends StorageUnderTest<Place> {
  readonly throughApi?: boolean
}

/** Ways to test the service on one storage. */
export const onStorage = <Place>({ client, place, throughApi }: HttpSubject<Place>) => {
  const tocsin = (options?: TocsinOptions) =>
    Tocsin.layer(Layer.fresh(Layer.provide(client, place)), { throughApi, ...options })
  return {
    /** A new service on an empty storage each time it is built. */
    tocsin,
    /** A test with its own service. */
    scenario: <F>(name: string, run: () => Scenario<F>, options?: TocsinOptions) =>
      it.live(name, () => Effect.provide(run(), tocsin(options))),
    /** Tests that share a service and tolerate each other's rows. */
    together: (name: string, tests: (it: Vitest.MethodsNonLive<Tocsin>) => void, options?: TocsinOptions) =>
      layer(tocsin(options), { excludeTestServices: true })(name, tests),
  }
}
