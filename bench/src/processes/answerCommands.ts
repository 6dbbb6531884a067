import process from "node:process"
import type { WorkerAnswer } from "./WorkerProcess.ts"

/** Runs the commands of the parent process until that ends. */
export const answerCommands = <Command, Reply>(answer: (command: Command) => Promise<Reply>): void => {
  const send = (message: WorkerAnswer<Reply>) => void process.send?.(message)
  process.on("disconnect", () => process.exit())
  // Both ends of this channel are this program: WorkerProcess sends nothing else.
  process.on("message", (message) => {
    answer(message as Command).then(
      (reply) => send({ reply }),
      (cause: unknown) => send({ failure: cause instanceof Error ? cause.message : String(cause) }),
    )
  })
}
