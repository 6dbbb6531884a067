import { AgentId } from "@tocsin/contract/Identifiers"
import * as Instant from "@tocsin/contract/Instant"
import type { ExpectedCheckState } from "@tocsin/core/usecases/expectedChecks"
import { Queries } from "@tocsin/core/usecases/Queries"
import { Effect, Option } from "effect"
import { Command, Flag } from "effect/cli"
import type { Column } from "../output/makeTable.ts"
import { ageText, labelsText } from "../output/texts.ts"
import { itemsOf, writeList } from "../output/writeList.ts"
import * as flags from "./flags.ts"
import { useCases } from "./UseCases.ts"

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
export const checks = Command.make(
  "checks",
  {
    overdue: flags.flag("overdue", "Only overdue checks, those included that never reported"),
    agentId: Flag.String("agent-id").pipe(
      Flag.withDescription("Only checks of this agent"),
      Flag.withSchema(AgentId),
      Flag.optional,
    ),
    ...flags.list,
  },
  Effect.fnUntraced(function* ({ agentId, overdue: is_overdue, ...given }) {
    const queries = yield* Queries
    const agent_id = Option.getOrUndefined(agentId)
    const items = itemsOf((page) => queries.expectedChecks({ agent_id, is_overdue, ...page }))
    return yield* writeList({ items, columns: columnsAt(yield* Instant.now), of: "checks" }, given)
  }, Effect.provide(useCases)),
).pipe(
  Command.withDescription("List checks with the time by which each must report"),
  Command.withExamples([{ command: "tocsin checks --overdue" }]),
)
