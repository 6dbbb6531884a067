import type { Severity } from "@tocsin/contract/Status"
import type { Result } from "../service/agents.ts"
import { type Draws, drawsOf } from "../system/Draws.ts"

/** The agents of every story. */
export const AGENTS = ["a", "b", "c"] as const
/** The receivers of every story. */
export const RECEIVERS = ["messenger", "webhook", "alert_router"] as const

type AgentName = (typeof AGENTS)[number]
type ReceiverName = (typeof RECEIVERS)[number]
/** A receiver that is late receives the message, and answers within the time limit. */
type Reply = "delivered" | "deferred" | "refused" | "throws" | "late"

/** One thing that happens. Several in a row without `passes` between them happen in one instant. */
export type RecordedStep =
  | { readonly step: "report"; readonly agent: AgentName; readonly results: ReadonlyArray<Result> }
  /** An agent stops sending heartbeats, or sends them again. */
  | { readonly step: "silent" | "alive"; readonly agent: AgentName }
  | { readonly step: "remove" | "enroll"; readonly agent: AgentName }
  | { readonly step: "removeCheck" | "resetClock"; readonly agent: AgentName; readonly check: string }
  | {
      readonly step: "declare"
      readonly agent: AgentName
      readonly check: string
      readonly seconds: number
      readonly severity: Severity
      readonly loud: boolean
    }
  | { readonly step: "answers"; readonly receiver: ReceiverName; readonly answer: Reply }
  | { readonly step: "replay"; readonly which: number }
  /** The server shuts down, and starts that much later. */
  | { readonly step: "down"; readonly seconds: number }
  /** The clock of every process is set back. */
  | { readonly step: "clockBack"; readonly seconds: number }
  | { readonly step: "passes"; readonly seconds: number }

const check = ({ oneOf }: Draws) => oneOf("disk", "load", "mail")

const result = (draws: Draws): Result => {
  const key = draws.oneOf(undefined, undefined, "shared", "shared", "a/disk")
  const { chance, oneOf } = draws
  return {
    check: check(draws),
    status: oneOf("ok", "ok", "warning", "critical", "critical", "unknown"),
    loud: !chance(0.2),
    ...(key !== undefined && { key }),
    ...(chance(0.3) && { output: oneOf("full", "nearly full\nsecond line", "") }),
  }
}

const report = (draws: Draws): RecordedStep => ({
  step: "report",
  agent: draws.oneOf(...AGENTS),
  results: Array.from({ length: 1 + draws.integer(3) }, () => result(draws)),
})

/** The kinds of steps, by their weight. */
const KINDS: ReadonlyArray<readonly [weight: number, (draws: Draws) => RecordedStep]> = [
  [30, report],
  [4, ({ oneOf }) => ({ step: oneOf("silent", "alive"), agent: oneOf(...AGENTS) })],
  [2, ({ oneOf }) => ({ step: oneOf("remove", "enroll", "enroll"), agent: oneOf(...AGENTS) })],
  [
    2,
    (draws) => ({
      step: draws.oneOf("removeCheck", "resetClock"),
      agent: draws.oneOf(...AGENTS),
      check: check(draws),
    }),
  ],
  [
    3,
    (draws) => ({
      step: "declare",
      agent: draws.oneOf(...AGENTS),
      check: check(draws),
      seconds: draws.oneOf(30, 60, 300),
      severity: draws.oneOf("unknown", "critical", "warning"),
      loud: !draws.chance(0.3),
    }),
  ],
  [
    5,
    ({ oneOf }) => ({
      step: "answers",
      receiver: oneOf(...RECEIVERS),
      answer: oneOf("delivered", "delivered", "deferred", "deferred", "refused", "throws", "late"),
    }),
  ],
  [2, ({ integer }) => ({ step: "replay", which: integer(10) })],
  [2, ({ oneOf }) => ({ step: "down", seconds: oneOf(2, 90, 600) })],
  [1, ({ oneOf }) => ({ step: "clockBack", seconds: oneOf(30, 3_600) })],
]

const WEIGHT = KINDS.reduce((sum, [weight]) => sum + weight, 0)

const step = (draws: Draws): RecordedStep => {
  let left = draws.integer(WEIGHT)
  const kind = KINDS.find(([weight]) => (left -= weight) < 0)
  return kind === undefined ? report(draws) : kind[1](draws)
}

/** Half of the steps follow the one before in the same instant. */
const pause = ({ chance, oneOf }: Draws): ReadonlyArray<RecordedStep> =>
  chance(0.5) ? [] : [{ step: "passes", seconds: oneOf(0.001, 3, 20, 60, 60, 150, 400) }]

/** The story of a number. It uses no generator of a library, so that an upgrade changes no story. */
export const recordedStory = (number: number): ReadonlyArray<RecordedStep> => {
  const draws = drawsOf(number)
  const length = 8 + draws.integer(25)
  return Array.from({ length }, () => [step(draws), ...pause(draws)]).flat()
}
