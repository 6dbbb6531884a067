import type { CheckStatus } from "@tocsin/core/contract/Status"
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
  | { readonly step: "withdraw" | "note" | "expire" | "release" | "restart"; readonly which: number }
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
  step: oneOf<"withdraw" | "note" | "expire" | "release">("withdraw", "note", "expire", "release"),
  which,
  minutes,
})
const restart = Arbitrary.all({ step: Arbitrary.Constant("restart" as const), which, minutes })

/** Most steps of a story. Give it as `size` too: stories grow to it from run to run. */
export const LONGEST = 18

/** Results, acts of people and restarts, minutes apart. All results are loud. */
export const peopleStory: Arbitrary.Arbitrary<ReadonlyArray<Step>> = Arbitrary.array(
  weighted<Step>([12, report], [2, acknowledge], [2, silence], [2, act], [1, restart]),
  { minLength: 12, maxLength: LONGEST },
)
