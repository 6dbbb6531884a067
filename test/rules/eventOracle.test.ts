import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect } from "effect"
import { propertyRuns } from "@tocsin/testing/propertyRuns"
import { batchReply } from "./Action.ts"
import { FoldedEvents } from "./FoldedEvents.ts"
import { admission, crowd, enrollment, life, notifiers, SIZE, type Step } from "./Scenario.ts"
import { logOf, viewOfFold, viewOfRows } from "./views.ts"
import type { ServiceOptions } from "../service/Service.ts"
import { driveService } from "./DrivenService.ts"

const arbitrary = { runs: propertyRuns(300), size: SIZE, maxShrinks: 3_000 }

const agreesWithTheFold = Effect.fnUntraced(function* (steps: ReadonlyArray<Step>, options: ServiceOptions) {
  // The fold forgets no severity.
  const driven = yield* driveService({ ...options, policy: { again_after: Duration.days(1) } })
  const observations = yield* driven.play(steps)
  const fold = new FoldedEvents(logOf(observations))
  const accepted = observations.flatMap(({ reply }) => batchReply(reply)?.accepted ?? [])
  assert.deepStrictEqual(accepted, fold.accepted)
  assert.deepStrictEqual(viewOfRows(driven.rows()), viewOfFold(fold))
})

describe("checks, incidents and the outbox equal a naive fold over all events", () => {
  it.effect.prop(
    "when agents send results of few checks",
    { steps: life, notifiers },
    ({ steps, notifiers }) => agreesWithTheFold([...enrollment, ...steps], { notifiers }),
    { arbitrary },
  )

  it.effect.prop(
    "when keys come and go",
    { steps: admission },
    ({ steps }) => agreesWithTheFold([...enrollment, ...steps], {}),
    { arbitrary },
  )

  it.effect.prop(
    "with many checks in one incident",
    { steps: crowd, notifiers },
    ({ steps, notifiers }) => agreesWithTheFold([...enrollment, ...steps], { notifiers }),
    { arbitrary: { ...arbitrary, runs: propertyRuns(20) } },
  )
})
