import process from "node:process"
import { createInterface } from "node:readline/promises"
import { Context, Effect, Layer, Schema } from "effect"

/** Nobody reads standard output any more (`| head`): there is no more to do, and nothing went wrong. */
export class BrokenPipe extends Schema.TaggedError<BrokenPipe>()("BrokenPipe", {}) {}

/** Standard output takes nothing: a full disk, for instance. */
export class OutputFailure extends Schema.TaggedError<OutputFailure>()("OutputFailure", {
  message: Schema.String,
}) {}

/** Where a command writes, and what it may do there. */
export class Output extends Context.Service<
  Output,
  {
    /** Writes to standard output, and waits until it is taken. */
    readonly write: (text: string) => Effect.Effect<void, BrokenPipe | OutputFailure>
    /** Writes to standard error, as far as anybody reads it. */
    readonly note: (text: string) => Effect.Effect<void>
    /** Asks the person at the terminal, on standard error. Only where `canAsk`. */
    readonly ask: (question: string) => Effect.Effect<string>
    /** Columns of the terminal that standard output is; `undefined` where it is none. */
    readonly columns: number | undefined
    /** The same of standard error. */
    readonly noteColumns: number | undefined
    /** Whether colours are welcome on standard output (https://no-color.org). */
    readonly hasColour: boolean
    /** Whether there is somebody to answer a question. */
    readonly canAsk: boolean
  }
>()("@tocsin/server/output/Output") {
  /** The streams of this process. */
  static readonly layer = Layer.sync(Output, () => make())
}

const FALLBACK_COLUMNS = 80

const columnsOf = (stream: NodeJS.WriteStream): number | undefined =>
  stream.isTTY === true ? (stream.columns ?? FALLBACK_COLUMNS) : undefined

const isUnset = (text: string | undefined): boolean => text === undefined || text === ""

const write = (text: string): Effect.Effect<void, BrokenPipe | OutputFailure> =>
  Effect.callback((resume) => {
    process.stdout.write(text, (error) => {
      if (error === null || error === undefined) return resume(Effect.void)
      const isBroken = "code" in error && error.code === "EPIPE"
      const message = `standard output cannot be written: ${error.message}`
      resume(Effect.fail(isBroken ? new BrokenPipe() : new OutputFailure({ message })))
    })
  })

const ask = (question: string): Effect.Effect<string> =>
  Effect.promise((signal) => {
    // The terminal's own editing: with that of readline, Ctrl-C would be a key and no signal.
    const lines = createInterface({ input: process.stdin, output: process.stderr, terminal: false })
    // An end of the input is no answer.
    const ended = new Promise<string>((resolve) => lines.once("close", () => resolve("")))
    return Promise.race([lines.question(question, { signal }), ended]).finally(() => lines.close())
  })

const make = (): Output["Service"] => {
  // What a stream's end means is decided where something is written; without a listener it would end the process.
  process.stdout.on("error", () => {})
  process.stderr.on("error", () => {})
  const { NO_COLOR, TERM } = process.env
  return Output.of({
    write,
    note: (text) => Effect.sync(() => void process.stderr.write(text)),
    ask,
    columns: columnsOf(process.stdout),
    noteColumns: columnsOf(process.stderr),
    hasColour: process.stdout.isTTY === true && isUnset(NO_COLOR) && TERM !== "dumb",
    canAsk: process.stdin.isTTY === true && process.stderr.isTTY === true,
  })
}
