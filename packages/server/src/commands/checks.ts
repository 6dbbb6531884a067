import { AgentId } from "@tocsin/contract/Identifiers"
import type * as Instant from "@tocsin/contract/Instant"
import type { ExpectedCheckState } from "@tocsin/core/usecases/expectedChecks"
import { ListedStatus } from "@tocsin/contract/Status"
import { Queries } from "@tocsin/core/usecases/Queries"
import { Command } from "effect/cli"
import type { Column } from "../output/makeTable.ts"
import { ageText, labelsText } from "../output/texts.ts"
import * as flags from "./flags.ts"
import { listCommand } from "./listCommand.ts"

const columnsAt = (now: Instant.Instant): ReadonlyArray<Column<ExpectedCheckState>> => [
  { title: "AGENT", cell: ({ agent_id }) => agent_id },
  { title: "CHECK", cell: ({ check_id }) => check_id },
  { title: "STATUS", cell: ({ status }) => status ?? "never reported", isState: true },
  {
    title: "OBSERVED",
    cell: ({ last_observed_at }) => (last_observed_at === null ? "" : ageText(last_observed_at, now)),
    align: "right",
  },
  {
    title: "EXPECTED",
    cell: ({ expected_at }) => (expected_at === null ? "" : ageText(expected_at, now)),
    align: "right",
  },
  { title: "OVERDUE", cell: ({ is_overdue }) => (is_overdue ? "overdue" : "") },
  { title: "LABELS", cell: ({ labels }) => labelsText(labels), least: 6 },
  { title: "SUMMARY", cell: ({ summary }) => summary ?? "", least: 16 },
]

/** `tocsin checks` */
export const checks = listCommand({
  name: "checks",
  filters: {
    is_overdue: flags.flag("overdue", "Only overdue checks, those included that never reported"),
    search: flags.text("search", "Only checks with these words in their names or their summary"),
    status: flags.filter("status", ListedStatus.literals, "Only checks in this status; not_ok: all but ok"),
    agent_id: flags.id("agent-id", AgentId, "Only checks of this agent"),
  },
  query: (filters, page) => Queries.use((queries) => queries.expectedChecks({ ...filters, ...page })),
  columns: columnsAt,
  of: "checks",
}).pipe(
  Command.withDescription("List checks with the time by which each must report"),
  Command.withExamples([{ command: "tocsin checks --overdue" }]),
)
