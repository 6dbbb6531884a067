import { Effect, type Scope } from "effect"
import { BenchFailure } from "../BenchFailure.ts"
import { WorkerProcess } from "./WorkerProcess.ts"

/** A worker that is stopped with the scope. */
export interface Worker<Command, Reply> {
  readonly pid: number
  readonly ask: (command: Command) => Effect.Effect<Reply, BenchFailure>
}

/** Starts a worker: a module of this package that calls `answerCommands`. */
export const worker = <Command extends object, Reply>(
  module: URL,
): Effect.Effect<Worker<Command, Reply>, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.sync(() => WorkerProcess.start<Command, Reply>(module)),
    (started) => Effect.promise(() => started.stop()),
  ).pipe(
    Effect.map((started) => ({
      pid: started.pid,
      ask: (command) =>
        Effect.tryPromise({
          try: () => started.ask(command),
          catch: (cause) =>
            new BenchFailure({ message: cause instanceof Error ? cause.message : String(cause) }),
        }),
    })),
  )
