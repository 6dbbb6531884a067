import { describe, it } from "@effect/vitest"
import * as Instant from "@tocsin/contract/formats/Instant"
import { Duration, Effect } from "effect"
import { TestClock } from "effect/testing"
import { assertSame } from "../assertSame.ts"
import { assertAlike, memory, outcomeOf, rules } from "./comparison.ts"
import { commandOf, type Sent } from "./commandOf.ts"
import { forAll, PROPERTY_TIMEOUT_MILLIS } from "../forAll.ts"
import { type ModelAction, modelActions } from "./ModelAction.ts"
import { inconsistencies } from "../inconsistencies.ts"
import { openReplica, type Replica } from "../Replica.ts"
import { START_MILLIS } from "../samples.ts"
import { stateOf } from "./stateOf.ts"
import type { StorageUnderTest } from "../StorageUnderTest.ts"

const USUAL_RUNS = 50

/** Plays a scenario on two storages and compares the outcome of each action. */
const tell = Effect.fnUntraced(function* (
  actions: ReadonlyArray<ModelAction>,
  storage: Replica,
  model: Replica,
) {
  const sent: Sent = { events: [], batches: [] }
  const compare = Effect.fnUntraced(function* (after: string) {
    const eventIds = sent.events.map((event) => event.event_id)
    assertAlike(
      yield* stateOf(storage, eventIds),
      yield* stateOf(model, eventIds),
      `the state after ${after}`,
    )
  })
  yield* TestClock.setTime(START_MILLIS)
  for (const [index, action] of actions.entries()) {
    const name = `action ${index}, ${JSON.stringify(action)}`
    if (action.act === "wait") yield* TestClock.adjust(Duration.seconds(action.seconds))
    else if (action.act === "compare") yield* compare(name)
    else {
      const deed = commandOf(action, sent, yield* Instant.now)
      assertAlike(yield* outcomeOf(deed, storage), yield* outcomeOf(deed, model), name)
    }
  }
  yield* compare("all actions")
  assertSame(yield* inconsistencies(storage), [])
})

/** Random scenarios: after each action, the storage has the replies and rows of the memory storage. */
export const modelSuite = <Place>(subject: StorageUnderTest<Place>, runs = USUAL_RUNS): void => {
  describe("model", () => {
    it.effect(
      "behaves like the memory storage in random scenarios",
      () =>
        forAll(modelActions, { runs }, (actions) =>
          Effect.gen(function* () {
            const storage = yield* openReplica(subject, rules)
            const model = yield* openReplica(memory, rules)
            yield* tell(actions, storage, model)
          }).pipe(Effect.scoped, Effect.provide(TestClock.layer())),
        ),
      PROPERTY_TIMEOUT_MILLIS,
    )
  })
}
