import process from "node:process"
import { createInterface } from "node:readline/promises"
import { Writable } from "node:stream"
import { Context, Effect, Layer, Schema } from "effect"
import { refusal } from "../CommandFailure.ts"
import { jsonText } from "./texts.ts"

/** The reader of standard output closed it (`| head`), which is no error. */
export class BrokenPipe extends Schema.TaggedError<BrokenPipe>()("BrokenPipe", {}) {}

/** Standard output cannot be written, for instance because a disk is full. */
export class OutputFailure extends Schema.TaggedError<OutputFailure>()("OutputFailure", {
  message: Schema.String,
}) {}

/** The streams of a command, and what each supports. */
export class Output extends Context.Service<
  Output,
  {
    /** Writes to standard output, and waits until the text is taken. */
    readonly write: (text: string) => Effect.Effect<void, BrokenPipe | OutputFailure>
    /** Writes to standard error without waiting. */
    readonly note: (text: string) => Effect.Effect<void>
    /** Asks the person at the terminal, on standard error; a hidden answer has no echo. Requires `canAsk`. */
    readonly ask: (question: string, options?: { readonly isHidden: boolean }) => Effect.Effect<string>
    /** Columns of standard output; `undefined` unless it is a terminal. */
    readonly columns: number | undefined
    /** Columns of standard error; `undefined` unless it is a terminal. */
    readonly noteColumns: number | undefined
    /** Whether to colour standard output (https://no-color.org). */
    readonly hasColour: boolean
    /** Whether a person can answer. */
    readonly canAsk: boolean
  }
>()("@tocsin/server/output/Output") {
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

const ask: Output["Service"]["ask"] = (question, { isHidden } = { isHidden: false }) =>
  Effect.promise((signal) => {
    const { stderr } = process
    const silent = new Writable({ write: (_part, _encoding, taken) => taken() })
    // The terminal edits the line itself, unless it is hidden: with readline's editing, Ctrl-C is not a signal.
    const output = isHidden ? silent : stderr
    const lines = createInterface({ input: process.stdin, output, terminal: isHidden })
    if (isHidden) stderr.write(question)
    lines.once("SIGINT", () => process.kill(process.pid, "SIGINT"))
    lines.once("close", () => void (isHidden && stderr.write("\n")))
    // The end of the input counts as an empty answer.
    const ended = new Promise<string>((resolve) => lines.once("close", () => resolve("")))
    return Promise.race([lines.question(question, { signal }), ended]).finally(() => lines.close())
  })

const make = (): Output["Service"] => {
  // Without a listener, an error would end the process; `write` decides what it means.
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

/** Writes a command's result: as JSON, indented on a terminal, or as the text for people. */
export const writeResult = Effect.fnUntraced(function* (json: boolean, value: unknown, text: () => string) {
  const output = yield* Output
  yield* output.write(json ? `${jsonText(value, output.columns !== undefined)}\n` : text())
})

/** Asks before an irreversible action, which `question` names. Without a terminal it requires `--yes`. */
export const confirm = Effect.fnUntraced(function* (question: string, isConfirmed: boolean) {
  const output = yield* Output
  if (isConfirmed) return
  if (!output.canAsk) return yield* refusal(`${question}: there is no terminal to confirm on, so use --yes`)
  const answer = yield* output.ask(`${question}. Do it? [y/N] `)
  if (!/^y(es)?$/i.test(answer.trim())) return yield* refusal("nothing was changed")
})
