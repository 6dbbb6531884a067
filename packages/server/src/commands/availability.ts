import { AvailabilityParameters, type CheckAvailability } from "@tocsin/contract/Availability"
import { Operations } from "@tocsin/core/usecases/Operations"
import { Effect, Schema, Struct } from "effect"
import { Command } from "effect/cli"
import type { Column } from "../output/makeTable.ts"
import { spanText } from "../output/texts.ts"
import * as flags from "./flags.ts"
import { listCommand } from "./listCommand.ts"

const Filters = Schema.Struct(Struct.pick(AvailabilityParameters.fields, ["match", "from", "to"]))

/** Cut like the per cent: a failure of seconds never shows as none. */
const percentText = ({ percent }: CheckAvailability): string =>
  percent === null ? "" : `${percent.toFixed(3)} %`

const column = (title: string, state: keyof CheckAvailability["seconds"]): Column<CheckAvailability> => ({
  title,
  cell: ({ seconds }) => (seconds[state] === 0 ? "" : spanText(seconds[state], 2)),
  align: "right",
})

const COLUMNS: ReadonlyArray<Column<CheckAvailability>> = [
  { title: "AGENT", cell: ({ agent_id }) => agent_id },
  { title: "CHECK", cell: ({ check_id }) => check_id },
  { title: "OK", cell: percentText, align: "right" },
  column("WARNING", "warning"),
  column("UNKNOWN", "unknown"),
  column("CRITICAL", "critical"),
  column("PLANNED", "planned"),
  column("NO DATA", "no_data"),
]

/** `tocsin report` */
export const availability = listCommand({
  name: "report",
  filters: {
    match: flags.text("match", "Matchers with commas between them, such as agent_id = web1"),
    from: flags.text("from", "Where the span begins (default: 24 hours before its end)"),
    to: flags.text("to", "Where the span ends (default: now)"),
  },
  query: Effect.fnUntraced(function* (filters, page) {
    const span = yield* flags.readArguments(Filters, filters)
    return yield* Operations.use((operations) => operations.availability({ phases: false, ...page, ...span }))
  }),
  columns: () => COLUMNS,
  of: "checks",
}).pipe(
  Command.withDescription("List how long checks were ok during a span, and how long not"),
  Command.withExamples([
    { command: "tocsin report" },
    {
      command:
        "tocsin report --match 'label:team = db' --from 2027-01-01T00:00:00Z --to 2027-02-01T00:00:00Z",
    },
  ]),
)
