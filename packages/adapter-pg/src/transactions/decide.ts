import type { Decision } from "@tocsin/core/engine/workspace/Decision"
import type { RowRequest } from "@tocsin/core/engine/workspace/RowRequest"
import { Effect } from "effect"

/** Runs a decision to its end; `load` brings the rows it asks for into its workspace. */
export const decide = Effect.fnUntraced(function* <A, E>(
  decision: Decision<A>,
  load: (request: RowRequest) => Effect.Effect<void, E>,
): Effect.fn.Return<A, E> {
  let step = decision.next()
  while (step.done !== true) {
    yield* load(step.value)
    step = decision.next()
  }
  return step.value
})
