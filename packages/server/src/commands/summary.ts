import * as Instant from "@tocsin/contract/Instant"
import type { SystemSummary } from "@tocsin/contract/Resources"
import { Queries } from "@tocsin/core/usecases/Queries"
import { Effect } from "effect"
import { Command } from "effect/cli"
import { type Column, tableText } from "../output/makeTable.ts"
import { Output } from "../output/Output.ts"
import { act, onStorage } from "./act.ts"

const COLUMNS: ReadonlyArray<Column<readonly [name: string, value: string]>> = [
  { title: "SUMMARY", cell: ([name]) => name },
  { title: "", cell: ([, value]) => value, align: "right" },
]

const rowsOf = ({ generated_at, ...counts }: SystemSummary): ReadonlyArray<readonly [string, string]> => [
  ...Object.entries(counts).map(([name, count]) => [name, String(count)] as const),
  ["generated_at", Instant.format(generated_at)],
]

/** `tocsin summary` */
export const summary = act({
  name: "summary",
  parameters: {},
  run: Effect.fnUntraced(function* () {
    const output = yield* Output
    const counts = yield* onStorage(Queries.use((queries) => queries.summary))
    return { answer: counts, text: tableText(COLUMNS, rowsOf(counts), output) }
  }),
}).pipe(Command.withDescription("Count agents, checks and open incidents"))
