import type { CheckStatus } from "@tocsin/contract/formats/Status"
import { Arbitrary } from "effect"
import { integer, oneOf, weighted } from "../properties/arbitraries.ts"

/** Something that happens at the 20th second of a minute. Numbers named `which` select from what exists then. */
export type Step = { readonly minutes: number } & (
  | {
      readonly step: "report"
      readonly check: string
      readonly status: CheckStatus
      readonly key: string | undefined
    }
  | { readonly step: "acknowledge"; readonly which: number; readonly lasts: number }
  | { readonly step: "silence"; readonly match: string; readonly lasts: number }
  | {
      readonly step: "withdraw" | "note" | "expire" | "release" | "replay" | "restart"
      readonly which: number
    }
  /** From now on, a receiver refuses what it is sent, or accepts it again. */
  | { readonly step: "refuse" | "accept"; readonly receiver: string }
  /** The clock of every process is set back by an hour. */
  | { readonly step: "clock_back" }
)

const which = integer(0, 9)
/** How long it lasts, in minutes and 40 seconds: it ends with a minute, apart from every step. */
const lasts = oneOf(1, 2, 5, 12)
/** Until the next step. */
const minutes = oneOf(1, 1, 1, 3)

const report = Arbitrary.all({
  step: Arbitrary.Constant("report" as const),
  check: oneOf("disk", "disk", "disk-b", "load"),
  status: oneOf<CheckStatus>("critical", "ok", "warning", "ok"),
  key: oneOf(undefined, undefined, "shared"),
  minutes,
})
const acknowledge = Arbitrary.all({
  step: Arbitrary.Constant("acknowledge" as const),
  which,
  lasts,
  minutes,
})
const silence = Arbitrary.all({
  step: Arbitrary.Constant("silence" as const),
  match: oneOf("check_id glob disk*", "incident_key = shared", "agent_id = a"),
  lasts,
  minutes,
})
const act = Arbitrary.all({
  step: oneOf("withdraw", "note", "expire", "release", "replay"),
  which,
  minutes,
})
const answer = Arbitrary.all({ step: oneOf("refuse", "accept"), receiver: oneOf("chat", "pager"), minutes })
const clockBack = Arbitrary.all({ step: Arbitrary.Constant("clock_back" as const), minutes })
const restart = Arbitrary.all({ step: Arbitrary.Constant("restart" as const), which, minutes })

/** Most steps of a scenario. Give it as `size` too: scenarios grow to it from run to run. */
export const LONGEST = 18

/** When scenarios begin: on a day, and before the clock changes in Berlin. By then, no real lease has ended. */
export const BEGINNINGS = ["2031-02-01T08:30Z", "2031-03-30T00:50Z", "2031-10-26T00:50Z"] as const

/** The steps, minutes apart, and the beginning. All results are loud. */
export interface PeopleScenario {
  readonly begins: (typeof BEGINNINGS)[number]
  readonly steps: ReadonlyArray<Step>
}

const scenarioOf = (...kinds: Parameters<typeof weighted<Step>>): Arbitrary.Arbitrary<PeopleScenario> =>
  Arbitrary.all({
    begins: oneOf(...BEGINNINGS),
    steps: Arbitrary.array(weighted<Step>(...kinds), { minLength: 12, maxLength: LONGEST }),
  })

/** Results, acts of people, refusals and restarts. */
export const peopleScenario = scenarioOf(
  [12, report],
  [2, acknowledge],
  [2, silence],
  [3, act],
  [1, answer],
  [1, restart],
)

/** The same with a clock that is set back. */
export const scenarioOfClocks = scenarioOf(
  [10, report],
  [2, acknowledge],
  [2, silence],
  [1, act],
  [1, clockBack],
)

/** Results and restarts alone. */
export const quietScenario = scenarioOf([12, report], [1, restart])
