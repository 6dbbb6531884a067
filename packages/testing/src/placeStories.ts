import { assert, it } from "@effect/vitest"
import type { AgentId } from "@tocsin/contract/formats/Identifiers"
import type { CheckStatus } from "@tocsin/contract/formats/Status"
import { HERE } from "@tocsin/contract/watches/places"
import { Clock, Effect } from "effect"
import { TestClock } from "effect/testing"
import * as fc from "fast-check"
import { forAll, PROPERTY_TIMEOUT_MILLIS } from "./forAll.ts"
import { type ModelTerms, PlaceModel } from "./PlaceModel.ts"
import { ask, BERLIN, decided, http, NAME, OSLO, probe, report } from "./placeSteps.ts"
import { newPlace } from "./Replica.ts"
import { enroll, send } from "./samples.ts"
import type { StorageUnderTest } from "./StorageUnderTest.ts"

/** A step of a story: a result of a place, observed a while ago or ahead; the clock goes on, or is set back. */
type Step =
  | { readonly kind: "result"; readonly place: AgentId; readonly status: CheckStatus; readonly ago: number }
  | { readonly kind: "time"; readonly seconds: number }
  /** The answer to one of the last results was lost, so its agent sends that again. */
  | { readonly kind: "again"; readonly back: number }
  | { readonly kind: "restart" }

interface Story {
  readonly terms: Omit<ModelTerms, "from">
  readonly steps: ReadonlyArray<Step>
}

const stories: fc.Arbitrary<Story> = fc.record({
  terms: fc.record({
    fails: fc.constantFrom<ModelTerms["fails"]>("majority", "majority", "any", "all", 1, 2, 3),
    confirm: fc.record({ bad: fc.constantFrom(2, 1, 3), good: fc.constantFrom(1, 2) }),
  }),
  steps: fc.array(
    fc.oneof(
      {
        weight: 6,
        arbitrary: fc.record({
          kind: fc.constant("result" as const),
          place: fc.constantFrom(BERLIN, OSLO, HERE),
          status: fc.constantFrom<CheckStatus>("ok", "ok", "critical", "critical", "warning", "unknown"),
          ago: fc.constantFrom(0, 0, 0, 5, 40, 200, -60),
        }),
      },
      {
        weight: 3,
        arbitrary: fc.record({
          kind: fc.constant("time" as const),
          seconds: fc.constantFrom(1, 1, 30, 30, 90, 200, -20, -100),
        }),
      },
      { weight: 1, arbitrary: fc.constant({ kind: "restart" as const }) },
      {
        weight: 1,
        arbitrary: fc.record({ kind: fc.constant("again" as const), back: fc.constantFrom(1, 1, 2) }),
      },
    ),
    { maxLength: 40 },
  ),
})

/** No two results come at one moment. */
const TICK = 0.001

/** The status is what a naive model says, whatever the order of results, after restarts, and with clocks set back. */
const followsModel = <Place>(subject: StorageUnderTest<Place>, { steps, terms }: Story) =>
  Effect.gen(function* () {
    const open = yield* newPlace(subject)
    let replica = yield* open
    yield* enroll(replica, BERLIN, OSLO)
    const from = [HERE, BERLIN, OSLO]
    yield* replica.watches.create({ name: NAME, http, from, ...terms })
    for (const agent of [BERLIN, OSLO]) yield* ask(replica, agent)
    const model = new PlaceModel({ from: from.length, ...terms })
    const created = yield* Clock.currentTimeMillis
    let now = 0
    const reported: Array<Effect.Success<ReturnType<typeof report>>> = []
    for (const step of steps) {
      now += step.kind === "time" ? step.seconds : TICK
      yield* TestClock.setTime(created + Math.round(now * 1_000))
      if (step.kind === "time") continue
      if (step.kind === "restart") {
        if (subject.onlyOneClient === undefined) replica = yield* open
      } else if (step.kind === "again") {
        const former = reported.at(-step.back)
        if (former !== undefined) yield* send(replica, former.agent, [former.sent])
      } else if (step.place === HERE) {
        yield* probe(replica, step.status)
        model.probe(now, HERE, step.status)
      } else {
        reported.push(yield* report(replica, step.place, step.status, { ago: step.ago }))
        model.result(now, step.place, step.status, step.ago)
      }
      assert.strictEqual(yield* decided(replica), model.status, JSON.stringify({ terms, steps }))
    }
  })

/** Stories of places against a naive model; restarts count where several clients share the storage. */
export const placeStories = <Place>(
  subject: StorageUnderTest<Place>,
  { runs }: { readonly runs: number },
): void => {
  it.effect(
    "places have the status that a naive model says, whatever the order of results",
    () => forAll(stories, { runs }, (story) => Effect.scoped(followsModel(subject, story))),
    PROPERTY_TIMEOUT_MILLIS,
  )
}
