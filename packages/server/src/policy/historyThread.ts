import { parentPort, Worker, workerData } from "node:worker_threads"
import type * as Instant from "@tocsin/contract/Instant"
import { PolicyDocument } from "@tocsin/contract/PolicyDocument"
import { type Backtested, type BacktestedPolicy, PolicyBacktest } from "@tocsin/core/ports/PolicySource"
import { StorageError, type StorageFailure } from "@tocsin/core/ports/Storage"
import { backtestHistory } from "@tocsin/simulation/backtestHistory"
import { ProgramModule, runTrialThread, startTrialHere } from "@tocsin/simulation/backtestThread"
import { Duration, Effect, Layer, Redacted, Schema } from "effect"
import { placeOfSettings } from "../storage.ts"
import type { Settings } from "../settings/Settings.ts"

/** A policy on its way to the thread: durations do not survive it. */
interface SentPolicy extends Pick<BacktestedPolicy, "notifiers"> {
  readonly policy: typeof PolicyDocument.Encoded
}

interface Order {
  readonly work: "history"
  readonly folder: string
  /** Of PostgreSQL. It stays inside the process, where a redacted one would lose its value. */
  readonly url: string | undefined
  readonly inForce: SentPolicy
  readonly tried: SentPolicy
  readonly since: Instant.Instant
  readonly until: Instant.Instant
  readonly staleAfter: number
  readonly most: number
}

type Reply =
  | { readonly type: "done"; readonly backtested: Backtested }
  | { readonly type: "failed"; readonly reason: StorageFailure; readonly message: string }

/** A history beyond it ends the thread and not the server. */
const RESOURCE_LIMITS = { maxOldGenerationSizeMb: 1_024 }

const sent = ({ notifiers, policy }: BacktestedPolicy): SentPolicy => ({
  notifiers,
  policy: Schema.encodeSync(PolicyDocument)(policy),
})
const received = ({ notifiers, policy }: SentPolicy): BacktestedPolicy => ({
  notifiers,
  policy: Schema.decodeSync(PolicyDocument)(policy),
})

/** Plays policies on the history of these settings on a thread; the memory storage has none. */
export const policyBacktest = (settings: Settings): Layer.Layer<never> =>
  placeOfSettings(settings) === undefined ? Layer.empty : Layer.succeed(PolicyBacktest, onThread(settings))

const onThread = (settings: Settings): PolicyBacktest => {
  const { DATABASE_URL: database, SERVICE_DATA_DIR: folder } = settings
  const url = database?.kind === "postgres" ? Redacted.value(database.url) : undefined
  return Effect.fnUntraced(function* ({ inForce, staleAfter, tried, ...times }) {
    const order: Order = {
      work: "history",
      folder,
      url,
      ...times,
      inForce: sent(inForce),
      tried: sent(tried),
      staleAfter: Duration.toMillis(staleAfter),
    }
    const program = yield* ProgramModule
    const worker = yield* Effect.acquireRelease(
      Effect.sync(() => new Worker(new URL(program), { workerData: order, resourceLimits: RESOURCE_LIMITS })),
      (started) => Effect.promise(() => started.terminate()),
    )
    return yield* Effect.callback<Backtested, StorageError>((resume) => {
      worker.on("error", (defect) => resume(Effect.die(defect)))
      worker.on("message", (reply: Reply) =>
        resume(
          reply.type === "done" ? Effect.succeed(reply.backtested) : Effect.fail(new StorageError(reply)),
        ),
      )
    })
  }, Effect.scoped)
}

/** The thread: reads a snapshot, and replies once. */
const runHistoryThread = async (): Promise<void> => {
  const { folder, inForce, staleAfter, tried, url, ...times }: Order = workerData
  const place = placeOfSettings({
    SERVICE_DATA_DIR: folder,
    DATABASE_URL: url === undefined ? undefined : { kind: "postgres", url: Redacted.make(url) },
  })
  if (place === undefined) throw new Error("a thread was started without a database")
  const backtested = place.withSource((source) =>
    backtestHistory(source, {
      ...times,
      inForce: received(inForce),
      tried: received(tried),
      staleAfter: Duration.millis(staleAfter),
      start: startTrialHere,
    }),
  )
  const reply = await Effect.runPromise(
    Effect.match(backtested, {
      onSuccess: (value): Reply => ({ type: "done", backtested: value }),
      onFailure: ({ message, reason }): Reply => ({ type: "failed", reason, message }),
    }),
  )
  parentPort?.postMessage(reply)
}

/** Does the work of a thread that this program has started. */
export const runThread = async (): Promise<void> =>
  Object(workerData).work === "history" ? await runHistoryThread() : runTrialThread()
