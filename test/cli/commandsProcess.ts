/**
 * A process that runs one command after another, each with its arguments, settings and folder. A process for each
 * command would take four times as much processor time.
 */
import process from "node:process"
import { codeOf, runCommand } from "@tocsin/server/commandLine"
import { Effect } from "effect"

/** A command to run, and the URL of the program that a process for it would run. */
export interface Order {
  readonly args: ReadonlyArray<string>
  readonly cwd: string
  readonly environment: Readonly<Record<string, string>>
  readonly program: string
}

type Written = (error?: Error | null) => void

const run = async ({ args, cwd, environment, program }: Order): Promise<void> => {
  const output = { stdout: "", stderr: "" }
  for (const name of ["stdout", "stderr"] as const) {
    // Each command listens for errors of its streams.
    process[name].removeAllListeners("error")
    process[name].write = (text: Uint8Array | string, ...[first, second]: ReadonlyArray<unknown>) => {
      output[name] += String(text)
      // A callback is the last argument, behind an encoding or not.
      const written = (second ?? first) as Written | undefined
      written?.()
      return true
    }
  }
  process.chdir(cwd)
  process.env = { ...environment }
  const exit = await Effect.runPromiseExit(runCommand(args, program))
  process.send?.({ code: codeOf(exit), ...output })
}

process.on("message", (order: Order) => void run(order))
process.on("disconnect", () => process.exit())
