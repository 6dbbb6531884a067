import { answerCommands } from "../processes/answerCommands.ts"
import { LoadGenerator } from "./LoadGenerator.ts"
import type { LoadCommand, LoadReply } from "./LoadCommand.ts"

let generator = new LoadGenerator([])

answerCommands<LoadCommand, LoadReply>(async (command) => {
  if (command.type === "run") return generator.run(command.run)
  generator = new LoadGenerator(command.keys)
  return undefined
})
