import { Worker } from "node:worker_threads"
import { Context, Effect } from "effect"

/** The module that the process runs. Threads start from it too. */
export const ProgramModule = Context.Reference<string>("@tocsin/server/ProgramModule", {
  defaultValue: () => {
    throw new Error("the program did not say which module it is")
  },
})

/** The work of a thread of this program, as plain data. */
export interface Order {
  readonly work: "history" | "mail" | "policy"
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
