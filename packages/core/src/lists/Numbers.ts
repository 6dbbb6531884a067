import { Context, Effect, Layer } from "effect"
import { NumberMemory } from "../features/numbers/NumberMemory.ts"
import { readingNumbers } from "../features/numbers/Numbers.ts"
import { placesOfWatch } from "../features/watches/listPlaces.ts"
import { Commits } from "../kernel/engine/commits/Commits.ts"
import { sharing } from "../kernel/engine/sharing.ts"
import { RuleSettings } from "../kernel/ports/RuleSettings.ts"
import { Storage } from "../kernel/ports/Storage.ts"

/** Numbers that checks measured, those of a watch at each of its places (docs/rules.md#numbers). */
export class Numbers extends Context.Service<Numbers>()("@tocsin/core/lists/Numbers", {
  make: Effect.gen(function* () {
    const { transact } = yield* Commits
    const { watchAgent } = yield* RuleSettings
    const numbers = readingNumbers(
      yield* Storage,
      yield* NumberMemory,
      yield* sharing,
      ({ agent_id, check_id }) =>
        agent_id === watchAgent ? transact(placesOfWatch(check_id)) : Effect.succeed([]),
    )
    return { numbers }
  }),
}) {
  static readonly layer = Layer.provide(Layer.effect(Numbers, Numbers.make), NumberMemory.layer)
}
