import { assert } from "@effect/vitest"
import { Storage } from "@tocsin/core/ports/Storage"
import { Context, Duration, Effect, Layer } from "effect"
import { AT_LENGTH } from "../properties/atLength.ts"
import { type Course, playModel } from "./playModel.ts"
import { differences, playService } from "./playService.ts"
import { predictable, simulateStory, tryStory } from "./predictMessages.ts"
import { randomStory } from "./randomStory.ts"
import type { Story } from "./Story.ts"

/** Longer than the delays after the last step, and for some than those of retries. */
const tailOf = (number: number): number => (number % 8 === 0 ? 4_000 : 1_300)

const assertEqual = (what: string, { steps }: Course, found: ReadonlyArray<string>): void =>
  assert.deepStrictEqual(found, [], [what, ...steps.map((step) => JSON.stringify(step)), ...found].join("\n"))

/** Compares a story on a service with the model. Returns how many messages are expected. */
const compareService = Effect.fnUntraced(function* (
  number: number,
  { late = 0, ...options }: Parameters<typeof playService>[2] & { readonly late?: number } = {},
) {
  const story = randomStory(number)
  const course = playModel(story, tailOf(number))
  const arrivals = yield* playService(story, course, options)
  assertEqual(`story ${number}`, course, differences(course, arrivals, late))
  return course.messages.length
})

/** Whether what `policy try` does not know, that agents are stale, decides about a story. */
const isBeyondTrials = ({ policy: { dependencies = [] }, steps }: Story): boolean =>
  steps.some(({ step }) => step === "falls_silent") &&
  dependencies.some(({ parent }) => parent.some((text) => text.endsWith("/@heartbeat")))

/** Compares `simulate` and `policy try` of a story with the model. */
const comparePredictions = (number: number): void => {
  const story = predictable(randomStory(number))
  const course = playModel(story, tailOf(number))
  assertEqual(`simulated story ${number}`, course, differences(course, simulateStory(story, course)))
  if (isBeyondTrials(story)) return
  const counts = tryStory(story, course)
  const wrong = story.receivers.filter((receiver) => {
    const own = course.messages.filter((message) => message.receiver === receiver)
    const [least, most] = [
      own.filter(({ to }) => to < course.until),
      own.filter(({ from }) => from <= course.until),
    ]
    const count = counts.get(receiver) ?? 0
    return count < least.length || count > most.length
  })
  assertEqual(`tried story ${number}`, course, wrong)
}

interface Numbers {
  readonly from: number
  readonly to: number
  /** How many of them, where tests take no minutes. */
  readonly few: number
}

const numbersOf = ({ few, from, to }: Numbers): ReadonlyArray<number> =>
  Array.from({ length: AT_LENGTH ? to - from : few }, (_, n) => from + n)

/** Compares stories on the memory storage, and what is predicted of them. */
export const compareInMemory = (numbers: Numbers) =>
  Effect.gen(function* () {
    let expected = 0
    for (const number of numbersOf(numbers)) {
      comparePredictions(number)
      expected += yield* compareService(number)
    }
    assert.isAbove(expected, 0)
  })

/** On databases, background work pauses longer, and may end so many seconds later. */
const PAUSE = Duration.seconds(13)
const LATE = 15

/** Compares stories on a storage with the model; two replicas share it. */
export const compareOn = <E>(layer: Layer.Layer<Storage, E>, numbers: Numbers) =>
  Effect.gen(function* () {
    let expected = 0
    for (const number of numbersOf(numbers)) {
      const storage = Effect.map(Layer.build(Layer.fresh(layer)), Context.get(Storage))
      expected += yield* Effect.scoped(
        Effect.flatMap(storage, (shared) =>
          compareService(number, { storage: shared, replicas: 2, idleFor: PAUSE, late: LATE }),
        ),
      )
    }
    assert.isAbove(expected, 0)
  })
