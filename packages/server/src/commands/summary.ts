import * as Instant from "@tocsin/core/contract/Instant"
import type { SystemSummary } from "@tocsin/core/contract/Resources"
import { Queries } from "@tocsin/core/usecases/Queries"
import { Effect } from "effect"
import { Command } from "effect/cli"
import { jsonText } from "../output/jsonText.ts"
import { Output } from "../output/Output.ts"
import { type Column, makeTable } from "../output/makeTable.ts"
import * as flags from "./flags.ts"
import { useCases } from "./UseCases.ts"

const COLUMNS: ReadonlyArray<Column<readonly [name: string, value: string]>> = [
  { title: "SUMMARY", cell: ([name]) => name },
  { title: "", cell: ([, value]) => value, align: "right" },
]

const rowsOf = ({ generated_at, ...counts }: SystemSummary): ReadonlyArray<readonly [string, string]> => [
  ...Object.entries(counts).map(([name, count]) => [name, String(count)] as const),
  ["generated_at", Instant.format(generated_at)],
]

/** `tocsin summary` */
export const summary = Command.make(
  "summary",
  { json: flags.json },
  Effect.fnUntraced(function* ({ json }) {
    const output = yield* Output
    const queries = yield* Queries
    const counts = yield* queries.summary
    const rows = rowsOf(counts)
    const table = makeTable(COLUMNS, rows, output)
    yield* output.write(
      json ? `${jsonText(counts, output.columns !== undefined)}\n` : table.header + table.lines(rows),
    )
  }, Effect.provide(useCases)),
).pipe(Command.withDescription("Count agents, checks and open incidents"))
