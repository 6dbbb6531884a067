import { csvColumns } from "@tocsin/contract/formats/csvText"
import { headlineOf } from "@tocsin/contract/formats/headline"
import { AgentId } from "@tocsin/contract/formats/Identifiers"
import { ListedStatus, ShownState } from "@tocsin/contract/formats/Status"
import { CheckPathParameters } from "@tocsin/contract/v1/Parameters"
import { ResolvedChecks } from "@tocsin/core/features/integrations/resolveCheck"
import { Checks } from "@tocsin/core/heart/usecases/Checks"
import type { HeldCheck } from "@tocsin/core/heart/usecases/heldChecks"
import { Effect } from "effect"
import { Command } from "effect/cli"
import { ageText, type Column, labelsText, titledText } from "../output/texts.ts"
import { actOn, listOn } from "./define.ts"
import * as flags from "./flags.ts"

const resolve = actOn(ResolvedChecks.layer)({
  name: "resolve",
  description: "Make a check of an integration ok, whose sender may never report that it is well",
  parameters: { check: flags.checkArgument },
  reads: Effect.fnUntraced(function* ({ check }) {
    return yield* flags.readArguments(CheckPathParameters, yield* flags.checkIn(check))
  }),
  refused: { NotFound: () => flags.noSuchCheck },
})(function* (name) {
  const resolved = ResolvedChecks.use((operations) => operations.resolveCheck(name))
  const { count } = yield* Effect.catchTag(resolved, "AgentNotFound", () => Effect.fail(flags.noSuchCheck))
  const done = count === 0 ? "is ok and in time" : "is now ok"
  return { answer: { count }, text: `${name.agent_id}/${name.check_id}: ${done}\n` }
})

const entitle = actOn(Checks.layer)({
  name: "title",
  description: "Give a check a title, which messages and pages show; an empty one takes it back",
  parameters: { check: flags.checkArgument, title: flags.titleArgument },
  reads: Effect.fnUntraced(function* ({ check, title: given }) {
    const name = yield* flags.readArguments(CheckPathParameters, yield* flags.checkIn(check))
    return { ...name, title: yield* flags.titleIn(given) }
  }),
  refused: { NotFound: () => flags.noSuchCheck },
})(function* ({ title, ...name }) {
  const titled = Checks.use((operations) => operations.titleCheck(name, title ?? undefined))
  const { count } = yield* Effect.catchTag(titled, "AgentNotFound", () => Effect.fail(flags.noSuchCheck))
  return { answer: { count }, text: titledText(`${name.agent_id}/${name.check_id}`, title) }
})

export const checks = listOn(Checks.layer)({
  name: "checks",
  description: "List checks with their states, and resolve those of integrations",
  examples: ["tocsin checks --state late", "tocsin checks resolve nagios/web1:disk"],
  filters: {
    state: flags.filter(
      "state",
      ShownState.literals,
      "Only checks in this state; late: also if they never reported",
    ),
    is_overdue: flags.flag("overdue", "The same as --state late"),
    search: flags.text("search", "Only checks with these words in their names, their summary or their title"),
    status: flags.filter(
      "status",
      ListedStatus.literals,
      "Only checks whose last result had this status; not_ok: all but ok",
    ),
    agent_id: flags.id("agent-id", AgentId, "Only checks of this agent"),
  },
  query: (filters, page) => Checks.use(({ expectedChecks }) => expectedChecks({ ...filters, ...page })),
  columns: (now): ReadonlyArray<Column<HeldCheck>> => [
    { title: "AGENT", cell: ({ agent_id }) => agent_id },
    { title: "CHECK", cell: ({ check_id }) => check_id },
    { title: "TITLE", cell: ({ title }) => title ?? "", isOptional: true, least: 12 },
    { title: "STATE", cell: ({ state }) => state ?? "", isState: true },
    { title: "LAST", cell: ({ status }) => status ?? "never reported" },
    { title: "HELD BY", cell: ({ held_by }) => held_by.join(" "), isOptional: true },
    { title: "OBSERVED", cell: ({ last_observed_at }) => ageText(last_observed_at, now), align: "right" },
    { title: "EXPECTED", cell: ({ expected_at }) => ageText(expected_at, now), align: "right" },
    { title: "LABELS", cell: ({ labels }) => labelsText(labels), least: 6 },
    { title: "SUMMARY", cell: ({ summary }) => headlineOf(summary) ?? "", least: 16 },
  ],
  of: "checks",
  csv: csvColumns.checks,
}).pipe(Command.withSubcommands([resolve, entitle]))
