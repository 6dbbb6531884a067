import { parentPort, Worker, workerData } from "node:worker_threads"
import { sha256 } from "@tocsin/adapter-crypto/NodeHashing"
import * as Instant from "@tocsin/contract/Instant"
import { PolicyDocument } from "@tocsin/contract/PolicyDocument"
import type { RuleOptions } from "@tocsin/core/ports/RuleSettings"
import { type PastEntry, type PolicyCounts, Backtest, type BacktestedPolicy } from "./Backtest.ts"
import type { KnownAgent } from "./registrationOf.ts"
import { Context, Deferred, Duration, Effect, Schema, type Scope, Semaphore } from "effect"

/** The module that the process runs. Threads start from it too: the server is one file. */
export const ProgramModule = Context.Reference<string>("@tocsin/server/ProgramModule", {
  defaultValue: () => {
    throw new Error("the program did not say which module it is")
  },
})

interface TrialOptions extends Pick<RuleOptions, "staleAfter"> {
  readonly agents: ReadonlyArray<KnownAgent>
  readonly since: Instant.Instant
}

/** The first message to a thread. Durations do not survive the way there, so the policy goes as text. */
interface Order extends Pick<BacktestedPolicy, "notifiers">, Pick<TrialOptions, "agents" | "since"> {
  readonly policy: typeof PolicyDocument.Encoded
  readonly staleAfter: number
}

type Message =
  | { readonly type: "take"; readonly entries: ReadonlyArray<PastEntry> }
  | { readonly type: "end"; readonly until: Instant.Instant }

type Reply = { readonly type: "taken" } | { readonly type: "counted"; readonly counts: PolicyCounts }

/** The trial of a policy on a thread of its own. */
interface TrialThread {
  /** Returns once there is room for more. */
  readonly take: (entries: ReadonlyArray<PastEntry>) => Effect.Effect<void>
  readonly end: (until: Instant.Instant) => Effect.Effect<PolicyCounts>
}

/** Pieces of the past that a thread may be behind by. */
const BEHIND = 4
/** Rows live briefly: the collector copies less of them when it runs less often. */
const RESOURCE_LIMITS = { maxYoungGenerationSizeMb: 48 }

/** Starts the trial of a policy on a thread, so that several run on several cores. */
export const startTrial = Effect.fnUntraced(function* (
  { notifiers, policy }: BacktestedPolicy,
  { staleAfter, ...options }: TrialOptions,
): Effect.fn.Return<TrialThread, never, Scope.Scope> {
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

/** The thread: takes what it is sent, and replies to each message. */
export const runTrialThread = (): void => {
  const { agents, notifiers, policy, since, staleAfter }: Order = workerData
  const trial = new Backtest(
    { policy: Schema.decodeSync(PolicyDocument)(policy), notifiers },
    {
      staleAfter: Duration.millis(staleAfter),
      ports: { sha256 },
      agents,
      start: Instant.fromMicros(0n),
      since,
    },
  )
  parentPort?.on("message", (message: Message) => {
    if (message.type === "take") {
      trial.take(message.entries)
      reply({ type: "taken" })
    } else reply({ type: "counted", counts: trial.end(message.until) })
  })
}

const reply = (message: Reply): void => parentPort?.postMessage(message)
