import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { batchReply } from "./Action.ts"
import { FoldedEvents } from "./FoldedEvents.ts"
import { crowd, enrollment, life, SIZE, notifiers, type Step } from "./Scenario.ts"
import { logOf, viewOfFold, viewOfRows } from "./views.ts"
import { openWorld, type WorldOptions } from "./World.ts"

const agreesWithTheFold = Effect.fnUntraced(function* (
  steps: ReadonlyArray<Step>,
  options: WorldOptions,
) {
  const world = yield* openWorld(options)
  const observations = yield* world.play([...enrollment, ...steps])
  const fold = new FoldedEvents(logOf(observations))
  const accepted = observations.flatMap(({ reply }) => batchReply(reply)?.accepted ?? [])
  assert.deepStrictEqual(accepted, fold.accepted)
  assert.deepStrictEqual(viewOfRows(world.rows()), viewOfFold(fold))
})

describe("checks, incidents and the outbox are what a naive fold over all events makes of them", () => {
  it.effect.prop(
    "over a life of few checks",
    { steps: life, notifiers },
    ({ steps, notifiers }) => agreesWithTheFold(steps, { notifiers }),
    { arbitrary: { runs: 600, size: SIZE, maxShrinks: 2000 } },
  )
  it.effect.prop(
    "with many checks in one incident",
    { steps: crowd, notifiers },
    ({ steps, notifiers }) => agreesWithTheFold(steps, { notifiers }),
    { arbitrary: { runs: 100, size: SIZE, maxShrinks: 2000 } },
  )
})
