import { type ChildProcess, spawn } from "node:child_process"
import type { Readable, Writable } from "node:stream"
import { StringDecoder } from "node:string_decoder"
import { setTimeout as sleep } from "node:timers/promises"
import { systemClock } from "../clock/Clock.ts"
import {
  type CapturedText,
  endOf,
  notStarted,
  outcomeOf,
  OUTPUT_GRACE_MILLIS,
  type RunEnd,
} from "../checks/RunOutcome.ts"
import { type CommandOptions, readOptions, UsageError } from "./options.ts"
import { complain, reasonOf } from "./output.ts"
import { requireCheckId, spoolReport } from "./spoolReport.ts"

/** Bytes of output that are kept: the last lines say how a job ended. */
const KEPT_BYTES = 8_000

const PASSED_ON = ["SIGTERM", "SIGINT", "SIGHUP", "SIGQUIT", "SIGUSR1"] as const

/** What is wrapped, and where its result goes. */
interface WrappedJob {
  readonly command: ReadonlyArray<string>
  /** Throws where the arguments before the command are wrong: the job runs all the same. */
  readonly target: () => { readonly options: CommandOptions; readonly checkId: string }
}

/** Splits `CHECK [--config FILE] [--state DIR] -- COMMAND…` at the first `--`. */
const readJob = (argv: ReadonlyArray<string>): WrappedJob => {
  const split = argv.indexOf("--")
  const command = split < 0 ? [] : argv.slice(split + 1)
  if (command.length === 0)
    throw new UsageError("write the command after --: tocsin-agent run CHECK -- COMMAND…")
  const target = () => {
    const options = readOptions(argv.slice(0, split))
    const [id, extra] = options.args
    if (extra !== undefined) throw new UsageError(`${extra} is not expected before --`)
    return { options, checkId: requireCheckId(id) }
  }
  return { command, target }
}

/**
 * `tocsin-agent run CHECK -- COMMAND…`: passes output and exit code through, and keeps the result
 * for the server. Trouble with the agent never fails the job.
 */
export const run = async (argv: ReadonlyArray<string>): Promise<number> => {
  const { command, target } = readJob(argv)
  const { end, tail, durationMillis, outputEnded } = await execute(command)
  const outcome = outcomeOf(end, tail.captured())
  if (end.kind === "notStarted") complain(outcome.output)
  try {
    const { options, checkId } = target()
    spoolReport(options, { ...outcome, checkId, durationMillis })
  } catch (error) {
    complain(`the result is not reported: ${reasonOf(error)}`)
  }
  await outputEnded
  return outcome.exitCode
}

interface Executed {
  readonly end: RunEnd
  readonly durationMillis: number
  readonly tail: OutputTail
  /** Resolves when no process holds the output any more. It is passed on until then. */
  readonly outputEnded: Promise<unknown>
}

/** Runs a command to its end; a process that it left in the background may go on. */
const execute = async ([name = "", ...args]: ReadonlyArray<string>): Promise<Executed> => {
  const tail = new OutputTail()
  const begun = systemClock.steady()
  const ended = (end: RunEnd) => ({ end, tail, durationMillis: systemClock.steady() - begun })
  const unstarted = (error: unknown): Executed => ({
    ...ended(notStarted(error, name)),
    outputEnded: Promise.resolve(),
  })
  let child: ChildProcess
  try {
    child = spawn(name, args, { stdio: ["inherit", "pipe", "pipe"] })
  } catch (error) {
    return unstarted(error)
  }
  const forward = (signal: NodeJS.Signals) => child.kill(signal)
  for (const signal of PASSED_ON) process.on(signal, forward)
  if (child.stdout !== null) passOn(child.stdout, process.stdout, tail)
  if (child.stderr !== null) passOn(child.stderr, process.stderr, tail)
  const outputEnded = new Promise((resolve) => child.once("close", resolve))
  return await new Promise((resolve) => {
    child.on("error", (error) => resolve(unstarted(error)))
    child.on("exit", (code, signal) => {
      for (const passed of PASSED_ON) process.off(passed, forward)
      const executed = ended(endOf(code, signal))
      void Promise.race([outputEnded, sleep(OUTPUT_GRACE_MILLIS)]).then(() =>
        resolve({ ...executed, outputEnded }),
      )
    })
  })
}

/** Copies output as it comes, as slowly as its reader takes it; a reader that went away stops nothing. */
const passOn = (from: Readable, to: Writable, tail: OutputTail): void => {
  let isOpen = true
  to.on("error", () => {
    isOpen = false
    from.resume()
  })
  from.on("data", (chunk: Buffer) => {
    tail.add(chunk)
    if (!isOpen || to.write(chunk)) return
    from.pause()
    to.once("drain", () => from.resume())
  })
}

/** The last whole lines of an output, or the end of a line that is longer. */
class OutputTail {
  #kept = Buffer.alloc(0)
  #dropped = 0

  add(chunk: Buffer): void {
    const all = Buffer.concat([this.#kept, chunk])
    this.#kept = all.subarray(Math.max(0, all.length - KEPT_BYTES))
    this.#dropped += all.length - this.#kept.length
  }

  captured(): CapturedText {
    const text = new StringDecoder("utf8").write(this.#kept)
    const droppedBytes = this.#dropped
    // The first line is cut where something was dropped before it.
    const whole = droppedBytes === 0 ? text : text.slice(text.indexOf("\n") + 1)
    return { text: whole === "" ? text : whole, droppedBytes }
  }
}
