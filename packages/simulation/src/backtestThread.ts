import { parentPort, Worker, workerData } from "node:worker_threads"
import * as Instant from "@tocsin/contract/Instant"
import { PolicyDocument } from "@tocsin/contract/PolicyDocument"
import type { BacktestedPolicy, PolicyCounts } from "@tocsin/core/ports/PolicySource"
import { Backtest, type PastEntry } from "./Backtest.ts"
import type { HistoryOptions, Trial } from "./backtestHistory.ts"
import { Context, Deferred, Duration, Effect, Schema, type Scope, Semaphore } from "effect"

/** The module that the process runs. Threads start from it too: the server is one file. */
export const ProgramModule = Context.Reference<string>("@tocsin/server/ProgramModule", {
  defaultValue: () => {
    throw new Error("the program did not say which module it is")
  },
})

/** The first message to a thread. Durations do not survive the way there, so the policy goes as text. */
interface Order extends Pick<BacktestedPolicy, "notifiers">, Omit<HistoryOptions, "staleAfter"> {
  readonly policy: typeof PolicyDocument.Encoded
  readonly staleAfter: number
}

type Message =
  | { readonly type: "take"; readonly entries: ReadonlyArray<PastEntry> }
  | { readonly type: "end"; readonly until: Instant.Instant }

type Reply = { readonly type: "taken" } | { readonly type: "counted"; readonly counts: PolicyCounts }

/** Pieces of the past that a thread may be behind by. */
const BEHIND = 4
/** Rows live briefly: the collector copies less of them when it runs less often. */
const RESOURCE_LIMITS = { maxYoungGenerationSizeMb: 48 }

/** Starts the trial of a policy on a thread, so that several run on several cores. */
export const startTrial = Effect.fnUntraced(function* (
  { notifiers, policy }: BacktestedPolicy,
  { staleAfter, ...options }: HistoryOptions,
): Effect.fn.Return<Trial, never, Scope.Scope> {
  const order: Order = {
    ...options,
    notifiers,
    policy: Schema.encodeSync(PolicyDocument)(policy),
    staleAfter: Duration.toMillis(staleAfter),
  }
  const program = yield* ProgramModule
  const worker = yield* Effect.acquireRelease(
    Effect.sync(() => new Worker(new URL(program), { workerData: order, resourceLimits: RESOURCE_LIMITS })),
    (started) => Effect.promise(() => started.terminate()),
  )
  const room = yield* Semaphore.make(BEHIND)
  const counted = yield* Deferred.make<PolicyCounts>()
  worker.on("message", (reply: Reply) => {
    if (reply.type === "taken") Effect.runSync(room.release(1))
    else Deferred.doneUnsafe(counted, Effect.succeed(reply.counts))
  })
  worker.on("error", (defect) => Deferred.doneUnsafe(counted, Effect.die(defect)))
  const send = (message: Message) => Effect.sync(() => worker.postMessage(message))
  const failed = Effect.andThen(Deferred.await(counted), Effect.never)
  return {
    take: (entries) =>
      Effect.andThen(Effect.raceFirst(room.take(1), failed), send({ type: "take", entries })),
    end: (until) => Effect.andThen(send({ type: "end", until }), Deferred.await(counted)),
  }
})

const beginTrial = (policy: BacktestedPolicy, options: HistoryOptions) =>
  new Backtest(policy, { ...options, start: Instant.fromMicros(0n) })

/** Starts the trial of a policy in this thread. */
export const startTrialHere = (policy: BacktestedPolicy, options: HistoryOptions): Effect.Effect<Trial> =>
  Effect.sync(() => {
    const trial = beginTrial(policy, options)
    return {
      take: (entries) => Effect.sync(() => trial.take(entries)),
      end: (until) => Effect.sync(() => trial.end(until)),
    }
  })

/** The thread: takes what it is sent, and replies to each message. */
export const runTrialThread = (): void => {
  const { notifiers, policy, staleAfter, ...options }: Order = workerData
  const trial = beginTrial(
    { policy: Schema.decodeSync(PolicyDocument)(policy), notifiers },
    { ...options, staleAfter: Duration.millis(staleAfter) },
  )
  parentPort?.on("message", (message: Message) => {
    if (message.type === "take") {
      trial.take(message.entries)
      reply({ type: "taken" })
    } else reply({ type: "counted", counts: trial.end(message.until) })
  })
}

const reply = (message: Reply): void => parentPort?.postMessage(message)
