import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { comparePredictions } from "./compareStories.ts"
import { EPISODES, type Episodes, IN_FORCE } from "./inForce.ts"
import { playModel } from "./playModel.ts"
import { differences } from "./differences.ts"
import { playService } from "./playService.ts"
import type { Happening, Message, Policy, Reported, Step, Story } from "./Story.ts"

export const disk = (status: Reported["status"], more: Partial<Reported> = {}): Happening => ({
  step: "report",
  agent: "a",
  results: [{ check: "disk", status, loud: true, ...more }],
})
export const load = (status: Reported["status"], more: Partial<Reported> = {}) =>
  disk(status, { check: "load", key: "k", ...more })
export const shared = (status: Reported["status"], more: Partial<Reported> = {}) =>
  disk(status, { key: "k", ...more })
export const acknowledge = (lasts: number): Happening => ({ step: "acknowledge", which: 0, lasts })

export const BOTH = ["chat", "pager"]

export interface Case {
  readonly begins?: string
  readonly policy?: Policy
  readonly receivers?: ReadonlyArray<string>
  /** The steps, each so many seconds after the one before it. */
  readonly steps: ReadonlyArray<readonly [wait: number, happening: Happening]>
  /** Seconds of the story, receiver, event, cause and severity of each message. */
  readonly expected: ReadonlyArray<string>
  /** How long the story goes on after its last step. */
  readonly tail?: number
}

/** `seconds receiver event cause severity` */
const words = ({ cause, event, from, receiver, severity }: Message) =>
  [from, receiver, event, cause, severity].filter((word) => word !== undefined).join(" ")

const TAIL = 2_000

const storyOf = ({ begins = "2031-02-01T08:30Z", policy = {}, receivers = BOTH, steps }: Case): Story => ({
  begins,
  policy,
  receivers,
  steps: steps.map(([wait, happening]): Step => ({ ...happening, wait })),
})

const modelled = (one: Case, on: Episodes = IN_FORCE) => {
  const story = storyOf(one)
  const course = playModel(story, one.tail ?? TAIL, on)
  assert.isTrue(course.isCertain)
  assert.deepStrictEqual(course.messages.map(words), one.expected)
  return { story, course }
}

/**
 * The tests of cases: the model, a service and simulations agree on messages that were written by hand. The model
 * alone plays those for parts of the rules that the service does not follow.
 */
export const playCases = (
  cases: Readonly<Record<string, Case>>,
  needs: ReadonlyArray<keyof Episodes> = [],
): void => {
  for (const [name, one] of Object.entries(cases))
    it.effect(name, () =>
      Effect.gen(function* () {
        const { course, story } = modelled(one, needs.length === 0 ? IN_FORCE : EPISODES)
        if (!needs.every((part) => IN_FORCE[part])) return
        const { arrivals } = yield* playService(story, course)
        assert.deepStrictEqual(differences(course, arrivals), [])
        assert.deepStrictEqual(comparePredictions(name, story, one.tail ?? TAIL), [])
      }),
    )
}
