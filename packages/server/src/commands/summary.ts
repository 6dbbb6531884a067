import type { SystemSummary } from "@tocsin/contract/v1/Resources"
import { Queries } from "@tocsin/core/lists/Queries"
import { Record } from "effect"
import { Output } from "../output/Output.ts"
import { type Column, tableText, timeText } from "../output/texts.ts"
import { actOn } from "./define.ts"

const COUNTS: ReadonlyArray<Column<readonly [name: string, value: string]>> = [
  { title: "SUMMARY", cell: ([name]) => name },
  { title: "", cell: ([, value]) => value, align: "right" },
]

const countsOf = ({ generated_at, ...counts }: SystemSummary): ReadonlyArray<readonly [string, string]> => [
  ...Object.entries(counts).map(([name, count]) => [name, String(count)] as const),
  ["generated_at", timeText(generated_at)],
]

export const summary = actOn(Queries.layer)({
  name: "summary",
  description: "Count agents, checks and open incidents",
  parameters: {},
})(function* () {
  const { integration_agents, states } = yield* Queries.use((queries) => queries.overview)
  const counts = { ...(yield* Queries.use((queries) => queries.summary)), integration_agents }
  // People read states: a late check is not counted by its last status.
  const ofStates = Record.mapKeys(states, (state) => `checks_${state}`)
  return { answer: counts, text: tableText(COUNTS, countsOf({ ...counts, ...ofStates }), yield* Output) }
})
