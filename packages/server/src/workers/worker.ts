import { availableParallelism } from "node:os"
import process from "node:process"
import {
  NO_SIBLINGS,
  type Siblings,
  type Together,
  toSent,
  withSiblings,
} from "@tocsin/adapter-http/metrics/siblings"
import { Deferred, Duration, Effect, Option, Schedule } from "effect"
import type { Settings } from "../settings/Settings.ts"
import type { FromWorker, ToWorker } from "./messages.ts"

/** The variable that holds a worker's number. */
export const WORKER_VARIABLE = "TOCSIN_WORKER"

/** This worker's number; absent in a process that serves alone, and in the one that starts workers. */
export const workerNumber = (environment: NodeJS.ProcessEnv): number | undefined => {
  const number = environment[WORKER_VARIABLE]
  return number === undefined ? undefined : Number(number)
}

/** How many processes serve. */
export const workersOf = ({ SERVICE_WORKERS: workers }: Pick<Settings, "SERVICE_WORKERS">): number =>
  workers === "auto" ? availableParallelism() : workers

/** Logged once, by the process that was asked to stop. */
export const STOPS = "Tocsin stops: requests under way are finished first"

/** Less often than a silent worker is killed. */
const SIGN_OF_LIFE_MILLIS = 5_000
/** What a worker counts between two reports is lost if it is killed. */
const REPORT_COUNTS_EVERY = Duration.seconds(5)
/** The others have as long for their metrics as a source has. */
const METRICS_LIMIT = Duration.seconds(3)

const tell = (message: FromWorker): void => void process.send?.(message)

/** Says from now on that this worker's event loop turns. */
export const giveSignsOfLife = (): void =>
  void setInterval(() => tell({ type: "alive" }), SIGN_OF_LIFE_MILLIS).unref()

/** Says that this worker accepts requests. */
export const tellListening = (address: string): Effect.Effect<void> =>
  Effect.sync(() => tell({ type: "listens", address }))

/**
 * Leaves it to the process that starts workers to say why this one is about to end. False in a process
 * that serves alone, or whose parent has ended.
 */
export const tellProblem = (message: string): boolean => {
  if (workerNumber(process.env) === undefined || !process.connected) return false
  tell({ type: "problem", message })
  return true
}

/** The other workers of the service; none in a process that serves alone. */
export const siblings = (environment: NodeJS.ProcessEnv): Siblings =>
  workerNumber(environment) === undefined ? NO_SIBLINGS : SIBLINGS

const SIBLINGS: Siblings = {
  join: Effect.fnUntraced(function* ({ all, counted }) {
    const asked = new Map<number, Deferred.Deferred<Together>>()
    let questions = 0
    const context = yield* Effect.context()
    const answer = (question: number) =>
      Effect.map(all, (families) => tell({ type: "metrics", question, families: toSent(families) }))
    const receive = (message: ToWorker): void => {
      if (message.type === "asks_metrics") Effect.runForkWith(context)(answer(message.question))
      else {
        const waiting = asked.get(message.question)
        if (waiting !== undefined) Deferred.doneUnsafe(waiting, Effect.succeed(message))
      }
    }
    yield* Effect.acquireRelease(
      Effect.sync(() => process.on("message", receive)),
      () => Effect.sync(() => process.off("message", receive)),
    )
    const report = Effect.map(counted, (families) => tell({ type: "counts", families: toSent(families) }))
    yield* Effect.forkScoped(Effect.repeat(report, Schedule.spaced(REPORT_COUNTS_EVERY)))
    // The last one, if the worker stops in order.
    yield* Effect.addFinalizer(() => report)
    return Effect.gen(function* () {
      const own = yield* all
      const question = questions++
      const waiting = Deferred.makeUnsafe<Together>()
      asked.set(question, waiting)
      tell({ type: "asks_metrics", question, families: toSent(own) })
      const answered = yield* Effect.timeoutOption(Deferred.await(waiting), METRICS_LIMIT)
      asked.delete(question)
      return withSiblings(own, Option.getOrUndefined(answered))
    })
  }),
}
