import * as SqliteStorage from "@tocsin/adapter-sqlite/SqliteStorage"
import { assert, it } from "@effect/vitest"
import { Storage } from "@tocsin/core/kernel/ports/Storage"
import { Cause, Context, Duration, Effect, Layer } from "effect"
import { AT_LENGTH, whyNotAtLength } from "../properties/atLength.ts"
import { EmptiedPostgres } from "../storage/EmptiedPostgres.ts"
import { type Course, playModel } from "./playModel.ts"
import { differences, unnotified } from "./differences.ts"
import { notifiedTwice } from "./notifiedTwice.ts"
import { playService } from "./playService.ts"
import { predictable, simulateStory, tryStory } from "./predictMessages.ts"
import { randomStory } from "./randomStory.ts"
import type { Story } from "./Story.ts"
import { skippedFor } from "@tocsin/testing/StorageUnderTest"

/** How many stories each storage plays: at full length, and of each part where tests take no minutes. */
const STORIES = {
  memory: { atLength: 20_000, sample: 16 },
  sqlite: { atLength: 2_000, sample: 1 },
  // A story there takes as long as fifty on memory.
  postgres: { atLength: 500, sample: 0 },
} as const
const PARTS = 4
/** Of one part at full length. */
const TIMEOUT = Duration.hours(2)
/** A part ends with so many failed stories. */
const MOST_FAILED = 3

/** Longer than the delays after the last step, and for some than those of retries. */
const tailOf = (number: number): number => (number % 8 === 0 ? 4_000 : 1_300)

/** The faults of a story, below its steps. */
const failureOf = (what: string, { steps }: Course, wrong: ReadonlyArray<string>): ReadonlyArray<string> =>
  wrong.length === 0 ? [] : [[what, ...steps.map((step) => JSON.stringify(step)), ...wrong].join("\n")]

/** Compares a story on a service with the model. */
const compareService = Effect.fnUntraced(function* (
  number: number,
  { late = 0, ...options }: Parameters<typeof playService>[2] & { readonly late?: number } = {},
) {
  const story = randomStory(number)
  const course = playModel(story, tailOf(number))
  const { arrivals, firings } = yield* playService(story, course, options)
  return failureOf(`story ${number}`, course, [
    ...differences(course, arrivals, late),
    ...unnotified(course, firings),
    ...notifiedTwice(arrivals).map((arrived) => `twice: ${JSON.stringify(arrived)}`),
  ])
})

/** Whether what `policy try` does not know decides about a story: that agents are stale, and when a silence began. */
const isBeyondTrials = ({ policy: { dependencies = [] }, steps }: Story): boolean =>
  // The history has no silence without a duration.
  steps.some(({ step, wait }) => step === "expire" && wait === 0) ||
  (steps.some(({ step }) => step === "falls_silent") &&
    dependencies.some(({ parent }) => parent.some((text) => text.endsWith("/@heartbeat"))))

/** Compares `simulate` and `policy try` of a story with the model, so long after its last step. */
export const comparePredictions = (what: string, told: Story, tail: number): ReadonlyArray<string> => [
  ...compareSimulation(what, predictable(told), tail),
  ...compareTrial(what, predictable(told), tail),
]

const compareSimulation = (what: string, story: Story, tail: number): ReadonlyArray<string> => {
  const course = playModel(story, tail)
  return failureOf(`simulated ${what}`, course, differences(course, simulateStory(story, course)))
}

const compareTrial = (what: string, story: Story, tail: number): ReadonlyArray<string> => {
  if (isBeyondTrials(story)) return []
  const played = playModel(story, tail)
  // A course that ends because an instant is uncertain says nothing about that instant: what happens then is left out.
  const before = { until: played.until - 1, steps: played.steps.filter(({ at }) => at < played.until) }
  const course = played.isCertain ? played : { ...played, ...before }
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
  return failureOf(`tried ${what}`, course, wrong)
}

/** Plays a story on replicas of different policies for a while: only who is on call at the end is certain. */
const playLagging = Effect.fnUntraced(function* (number: number, options: Parameters<typeof playService>[2]) {
  const story = randomStory(number)
  const course = playModel(story, tailOf(number))
  const { arrivals, firings } = yield* playService(story, course, { ...options, lags: true })
  const onCall = course.onCall.filter(({ isBeside }) => isBeside !== true)
  return failureOf(`lagging story ${number}`, course, [
    ...unnotified({ ...course, onCall }, firings),
    ...notifiedTwice(arrivals).map((arrived) => `twice: ${JSON.stringify(arrived)}`),
  ])
})

/** On databases, background work pauses longer, and may end so many seconds later. */
const PAUSE = Duration.seconds(10)
const LATE = 15

/** Compares a story with the model on a storage that two replicas share. */
const compareReplicas = <E>(number: number, layer: Layer.Layer<Storage, E>) =>
  Effect.map(Layer.build(Layer.fresh(layer)), Context.get(Storage)).pipe(
    Effect.flatMap((storage) => {
      const options = { storage, replicas: 2, idleFor: PAUSE }
      // Half of the stories with rotas.
      const lags = number % 8 === 1 || number % 8 === 2
      return lags ? playLagging(number, options) : compareService(number, { ...options, late: LATE })
    }),
    Effect.scoped,
  )

const sqlite = SqliteStorage.layer({ file: ":memory:" })
const postgres = EmptiedPostgres.client

/** The tests of one part of the stories, on each storage; parts count from 1. On memory, they are predicted too. */
export const partOfStories = (part: number): void => {
  for (const storage of ["memory", "sqlite", "postgres"] as const) storiesOn(storage, part)
}

const storiesOn = (storage: keyof typeof STORIES, part: number): void => {
  const { atLength, sample } = STORIES[storage]
  // The kinds of stories repeat every eight: the parts of a sample have others.
  const first = (part - 1) * (atLength / PARTS + (AT_LENGTH ? 0 : sample))
  const numbers = Array.from({ length: AT_LENGTH ? atLength / PARTS : sample }, (_, n) => first + n)
  const emptied =
    storage === "postgres" ? postgres.pipe(Layer.provide(EmptiedPostgres.layerOfFile())) : sqlite
  const compare = (number: number) =>
    storage === "memory"
      ? Effect.map(compareService(number), (failed) => [
          ...comparePredictions(`story ${number}`, randomStory(number), tailOf(number)),
          ...failed,
        ])
      : compareReplicas(number, emptied)
  const named = (number: number) =>
    Effect.catchCause(compare(number), (cause) => Effect.succeed([`story ${number}: ${Cause.pretty(cause)}`]))
  it.live.skipIf(!AT_LENGTH && sample === 0)(
    `the model predicts the messages of random stories on ${storage}: part ${part} of ${PARTS}${skippedFor(sample === 0 ? whyNotAtLength : undefined)}`,
    () =>
      Effect.gen(function* () {
        const failed: Array<string> = []
        for (const number of numbers) if (failed.length < MOST_FAILED) failed.push(...(yield* named(number)))
        assert.deepStrictEqual(failed, [], failed.join("\n\n"))
      }),
    AT_LENGTH ? Duration.toMillis(TIMEOUT) : undefined,
  )
}
