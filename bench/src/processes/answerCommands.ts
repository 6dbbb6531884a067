import process from "node:process"
import type { WorkerAnswer } from "./WorkerProcess.ts"

/** Carries out what the parent of this process asks, until the parent is gone. */
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
