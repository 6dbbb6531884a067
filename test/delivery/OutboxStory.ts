import type { CheckStatus } from "@tocsin/contract/formats/Status"
import { Arbitrary } from "effect"
import { integer, oneOf, weighted } from "../properties/arbitraries.ts"
import { type Answer, deferred, delivered, refused, timedOut } from "../service/Receivers.ts"

/**
 * Something that happens during delivery. Numbers named `which` select from the existing rows or
 * processes.
 */
export type Step =
  | {
      readonly step: "report"
      readonly check: string
      readonly status: CheckStatus
      readonly loud: boolean
      readonly key: string | undefined
    }
  | { readonly step: "wait"; readonly millis: number }
  /** The agent is deleted and registers again. */
  | { readonly step: "remove" }
  | { readonly step: "replay"; readonly which: number }
  | { readonly step: "open" }
  /** A process shuts down or crashes. */
  | { readonly step: "close" | "crash"; readonly which: number }
  /** A process cannot reach the storage for a while, or loses the replies to its commands. */
  | { readonly step: "unreachable" | "lose_replies"; readonly which: number; readonly seconds: number }

/** The steps, and the behaviour of receivers and storage. */
export interface OutboxStory {
  /** The number of processes at the start. */
  readonly processes: number
  readonly steps: ReadonlyArray<Step>
  /** The answers to attempts, in turn. */
  readonly answers: ReadonlyArray<Answer>
  /** How long commands take to reach the storage, in turn, for each process. */
  readonly latencies: ReadonlyArray<number>
  /** The hints to the other processes after each change of an item, in turn: when each arrives. */
  readonly hints: ReadonlyArray<ReadonlyArray<number>>
  /** For the jitter of the delays. */
  readonly seed: number
}

const slow: Answer = { ...delivered, sendingMillis: 9_000, answeringMillis: 5_000 }

const millis = oneOf(0, 0, 1, 40, 2_000)
const timely = (answer: Answer) =>
  Arbitrary.map(Arbitrary.all([millis, millis]), ([sendingMillis, answeringMillis]) => ({
    ...answer,
    sendingMillis,
    answeringMillis,
  }))
const asking = Arbitrary.map(
  Arbitrary.all([timely(deferred), oneOf(1, 20, 200, 4_000)]),
  ([answer, retryAfterSeconds]) => ({ ...answer, retryAfterSeconds }),
)

const honest: ReadonlyArray<readonly [number, Arbitrary.Arbitrary<Answer>]> = [
  [5, timely(delivered)],
  [4, timely(deferred)],
  [1, asking],
  [1, timely(refused)],
  [2, Arbitrary.Constant(slow)],
  [1, Arbitrary.Constant<Answer>({ ...deferred, outcome: "throws" })],
]

/** Answers of receivers that get exactly the messages that they acknowledge. */
const honestAnswer = weighted<Answer>([1, Arbitrary.Constant(delivered)], ...honest)
/** Those, and answers of receivers that get more than they acknowledge. */
const anyAnswer = weighted<Answer>([1, Arbitrary.Constant(delivered)], ...honest, [
  2,
  Arbitrary.Constant(timedOut),
])

const report = Arbitrary.all({
  step: Arbitrary.Constant("report" as const),
  check: oneOf("disk", "load", "mail"),
  status: oneOf("ok", "ok", "critical", "warning", "unknown"),
  loud: weighted([5, Arbitrary.Constant(true)], [1, Arbitrary.Constant(false)]),
  key: oneOf(undefined, "shared"),
})
const wait = Arbitrary.map(oneOf(0, 0, 1, 50, 2_500, 5_000, 16_000, 61_000, 300_000), (millis): Step => ({
  step: "wait",
  millis,
}))
const which = integer(0, 9)
const open = Arbitrary.Constant<Step>({ step: "open" })
const remove = Arbitrary.Constant<Step>({ step: "remove" })
const replay = Arbitrary.map(which, (which): Step => ({ step: "replay", which }))
const stop = Arbitrary.all({ step: oneOf("close", "crash"), which })
const unreachable = (...seconds: readonly [number, ...ReadonlyArray<number>]) =>
  Arbitrary.all({ step: Arbitrary.Constant("unreachable" as const), which, seconds: oneOf(...seconds) })
const loseReplies = Arbitrary.all({
  step: Arbitrary.Constant("lose_replies" as const),
  which,
  seconds: oneOf(0, 1, 10),
})

const common: ReadonlyArray<readonly [number, Arbitrary.Arbitrary<Step>]> = [
  [6, wait],
  [1, remove],
  [1, replay],
  [1, open],
]

/**
 * How many steps a scenario has at most. Give it as `size` too: scenarios grow to it from run to
 * run.
 */
export const LONGEST = 40

const scenario = (step: Arbitrary.Arbitrary<Step>, answer: Arbitrary.Arbitrary<Answer>) =>
  Arbitrary.all({
    processes: integer(1, 3),
    steps: Arbitrary.array(step, { minLength: 5, maxLength: LONGEST }),
    answers: Arbitrary.array(answer, { minLength: 3, maxLength: LONGEST }),
    latencies: Arbitrary.array(oneOf(0, 0, 0, 1, 30, 1_500), { maxLength: 12 }),
    // Some are lost, late or doubled.
    hints: Arbitrary.array(Arbitrary.array(oneOf(0, 0, 5, 1_500, 60_000), { maxLength: 2 }), {
      maxLength: 6,
    }),
    seed: integer(0, 1_000_000),
  })

/** Every kind of fault. */
export const anyOutboxStory: Arbitrary.Arbitrary<OutboxStory> = scenario(
  weighted<Step>([8, report], ...common, [2, stop], [1, unreachable(5, 100)], [1, loseReplies]),
  anyAnswer,
)

/**
 * No process stops, no message is lost, and the storage is never unreachable for as long as a
 * lease.
 */
export const orderlyOutboxStory: Arbitrary.Arbitrary<OutboxStory> = scenario(
  weighted<Step>([8, report], ...common, [1, unreachable(5, 20)]),
  honestAnswer,
)
