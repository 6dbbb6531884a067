import { Storage } from "@tocsin/core/ports/Storage"
import { Context, Effect, Layer } from "effect"

/** Which of two instances serves the n-th call: some calls in a row each, in a pattern that does not come again soon. */
const turnOf = (call: number): 0 | 1 => ((call * call + (call >> 1)) % 7 < 4 ? 0 : 1)

/** Two instances of a storage that serve one caller in turn: each meets what the other one left. */
export const inTurn = <E, R>(client: Layer.Layer<Storage, E, R>): Layer.Layer<Storage, E, R> =>
  Layer.effect(
    Storage,
    Effect.gen(function* () {
      const open = Effect.map(Layer.build(Layer.fresh(client)), (services) => Context.get(services, Storage))
      const instances = [yield* open, yield* open] as const
      let calls = 0
      return Storage.of({
        ...instances[0],
        transact: (command) => Effect.suspend(() => instances[turnOf(calls++)].transact(command)),
        page: (request) => Effect.suspend(() => instances[turnOf(calls++)].page(request)),
        agent: (agentId) => Effect.suspend(() => instances[turnOf(calls++)].agent(agentId)),
      })
    }),
  )
