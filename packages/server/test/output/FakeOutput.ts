import { Effect, Layer } from "effect"
import { Output } from "@tocsin/server/output/Output"

/** The output of a command, and the answers of the person at the terminal. */
export interface FakeTerminal {
  stdout: string
  stderr: string
  readonly layer: Layer.Layer<Output>
}

/** Streams in memory; terminals of 80 columns with a person at them where an answer is given. */
export const fakeTerminal = (answer?: string): FakeTerminal => {
  const columns = answer === undefined ? undefined : 80
  const terminal: FakeTerminal = {
    stdout: "",
    stderr: "",
    layer: Layer.succeed(
      Output,
      Output.of({
        write: (text) => Effect.sync(() => void (terminal.stdout += text)),
        note: (text) => Effect.sync(() => void (terminal.stderr += text)),
        ask: (question) => Effect.sync(() => ((terminal.stderr += question), answer ?? "")),
        columns,
        noteColumns: columns,
        hasColour: false,
        canAsk: answer !== undefined,
      }),
    ),
  }
  return terminal
}
