import { Worker } from "node:worker_threads"
import { ProgramModule } from "@tocsin/simulation/backtestThread"
import { Effect } from "effect"

/** The work of a thread of this program, as plain data. */
export interface Order {
  readonly work: "history" | "policy"
}

/** Starts a thread for one order, and ends it once it has replied. Interruption ends it too. */
export const askThread = <Reply>(
  order: Order,
  { maxMegabytes }: { readonly maxMegabytes: number },
): Effect.Effect<Reply> =>
  Effect.scoped(
    Effect.gen(function* () {
      const program = yield* ProgramModule
      const options = { workerData: order, resourceLimits: { maxOldGenerationSizeMb: maxMegabytes } }
      const worker = yield* Effect.acquireRelease(
        Effect.sync(() => new Worker(new URL(program), options)),
        (started) => Effect.promise(() => started.terminate()),
      )
      return yield* Effect.callback<Reply>((resume) => {
        worker.on("error", (defect) => resume(Effect.die(defect)))
        worker.on("message", (reply: Reply) => resume(Effect.succeed(reply)))
      })
    }),
  )
