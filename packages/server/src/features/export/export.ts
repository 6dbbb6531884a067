import { exportedLines, textOf } from "@tocsin/adapter-http/features/export/exportedLines"
import { ExportParameters } from "@tocsin/contract/export/Export"
import { Incidents } from "@tocsin/core/heart/usecases/Incidents"
import { Exports } from "@tocsin/core/lists/Exports"
import { Effect, Layer, Stream } from "effect"
import { command } from "../../commands/define.ts"
import * as flags from "../../commands/flags.ts"
import { portsOfCommand } from "../../commands/UseCases.ts"
import { Output } from "../../output/Output.ts"

const EXPORTING = Layer.merge(Exports.layer, Incidents.layer)

export const exportRows = command({
  name: "export",
  description:
    "Write stored changes, incidents or hours of numbers as JSON, one object a line.\n" +
    "  After each 1,000 rows comes a line with a cursor, and last one with a cursor and end.",
  short: "Write rows as JSON, one a line",
  examples: [
    "tocsin export history --from 2027-01-01 --to 2027-02-01 > january.ndjson",
    "tocsin export numbers --from 30d --to 0s",
  ],
  parameters: {
    kind: flags.argument("KIND", "history, incidents or numbers"),
    from: flags.time("from", "Where the span begins"),
    to: flags.time("to", "Where the span ends, not included"),
    cursor: flags.text("cursor", "Go on behind this cursor of an export of the same kind and span"),
  },
  run: Effect.fnUntraced(function* (given) {
    const parameters = yield* flags.readArguments(ExportParameters, given)
    const { write } = yield* Output
    yield* Effect.gen(function* () {
      const linesOf = yield* exportedLines
      yield* Stream.runForEach(yield* linesOf(parameters), (lines) => write(textOf(lines)))
    }).pipe(Effect.scoped, Effect.provide(Layer.provideMerge(EXPORTING, portsOfCommand)))
  }),
})
