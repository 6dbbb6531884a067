import { csvColumns } from "@tocsin/contract/formats/csvText"
import { type AuditEntry, AuditFilters } from "@tocsin/contract/audit/Audit"
import { auditActionNames } from "@tocsin/contract/audit/AuditActions"
import { headlineOf } from "@tocsin/contract/formats/headline"
import { AgentId } from "@tocsin/contract/formats/Identifiers"
import * as Instant from "@tocsin/contract/formats/Instant"
import { formatMatcher } from "@tocsin/contract/labels/matcherText"
import type { SystemSummary } from "@tocsin/contract/v1/Resources"
import { CheckPathParameters } from "@tocsin/contract/v1/Parameters"
import { ListedStatus, ShownState } from "@tocsin/contract/formats/Status"
import { compilePolicy } from "@tocsin/core/heart/policy/compilePolicy"
import { Checks } from "@tocsin/core/heart/usecases/Checks"
import { ResolvedChecks } from "@tocsin/core/features/integrations/resolveCheck"
import { Queries } from "@tocsin/core/lists/Queries"
import type { HeldCheck } from "@tocsin/core/heart/usecases/heldChecks"
import { shownPolicies, withOccurrences } from "@tocsin/core/heart/usecases/shownPolicy"
import { Effect } from "effect"
import { Command } from "effect/cli"
import { type Column, tableText } from "../output/makeTable.ts"
import { Output, writeResult } from "../output/Output.ts"
import { ageText, labelsText, timeText, titledText, withoutMicros } from "../output/texts.ts"
import { givenPolicy } from "../policy/loadPolicy.ts"
import { receiversOutside } from "../rules.ts"
import { actOn, command, listOn } from "./define.ts"
import * as flags from "./flags.ts"
import { portsOfCommand, settingsOfCommand } from "./UseCases.ts"

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

const subjectsText = ({ subjects: [first, ...others] }: AuditEntry): string => {
  if (first === undefined) return ""
  const name = first.title === undefined ? first.id : `${first.title} (${first.id})`
  return others.length === 0 ? name : `${name} and ${others.length} more`
}

const parametersText = ({ parameters }: AuditEntry): string =>
  Object.entries(parameters)
    .map(([name, value]) => `${name}=${withoutMicros(String(value))}`)
    .join(" ")

export const audit = listOn(Queries.layer)({
  name: "audit",
  description: "List who changed what, newest first",
  examples: ["tocsin audit --subject web-1", "tocsin audit --actor ann --since 7d"],
  filters: {
    actor: flags.text("actor", "Only changes by this actor, such as ann or cli:root"),
    action: flags.filter("action", auditActionNames, "Only changes of this kind"),
    subject: flags.text("subject", "Only changes of the thing with this ID"),
    from: flags.time("since", "Only changes at this time or later", "from"),
    to: flags.time("until", "Only changes before this time", "to"),
  },
  check: flags.reader(AuditFilters),
  query: Effect.fnUntraced(function* (given, page) {
    const filters = yield* flags.readArguments(AuditFilters, given)
    return yield* Queries.use((queries) => queries.audit({ ...filters, ...page, with_titles: true }))
  }),
  columns: () => [
    { title: "AT", cell: ({ at }) => timeText(at) },
    { title: "ACTOR", cell: ({ actor }) => actor },
    { title: "VIA", cell: ({ via }) => via },
    { title: "ACTION", cell: ({ action }) => action },
    { title: "SUBJECT", cell: subjectsText, least: 16 },
    { title: "PARAMETERS", cell: parametersText, least: 16 },
  ],
  of: "changes",
  csv: csvColumns.audit,
})

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
  const { integration_agents } = yield* Queries.use((queries) => queries.overview)
  const counts = { ...(yield* Queries.use((queries) => queries.summary)), integration_agents }
  return { answer: counts, text: tableText(COUNTS, countsOf(counts), yield* Output) }
})

interface Occurrence extends Record<"name" | "starts_at" | "ends_at", string> {
  readonly comment: string | undefined
}

const OCCURRENCES: ReadonlyArray<Column<Occurrence>> = [
  { title: "WINDOW", cell: ({ name }) => name },
  { title: "STARTS", cell: ({ starts_at }) => starts_at },
  { title: "ENDS", cell: ({ ends_at }) => ends_at },
  { title: "COMMENT", cell: ({ comment }) => comment ?? "", least: 16 },
]

/** The windows that servers with these settings follow. The secrets that their file names stay unopened. */
const windowsInForce = Effect.gen(function* () {
  const settings = yield* settingsOfCommand
  const { SERVICE_POLICY_FILE: file } = settings
  if (file === undefined)
    return (yield* Effect.provide(
      Effect.flatMap(shownPolicies, (shown) => shown.windows),
      portsOfCommand,
    )).items
  const { policy } = yield* givenPolicy(file, receiversOutside(settings))
  return withOccurrences(compilePolicy(policy, []).windows, yield* Instant.now)
})

export const windows = command({
  name: "windows",
  description:
    "List the maintenance windows of the policy, each with the one in force and the next, five in all",
  short: "List maintenance windows and their next times",
  parameters: { json: flags.json },
  run: Effect.fnUntraced(function* ({ json }) {
    const output = yield* Output
    const found = (yield* windowsInForce).map(({ at, comment, cron, match, name, occurrences, tz }) => ({
      name,
      cron,
      at,
      tz,
      match: match.map(formatMatcher),
      comment,
      occurrences: occurrences.map(({ ends_at, starts_at }) => ({ starts_at, ends_at })),
    }))
    const rows = found.flatMap(({ comment, name, occurrences }) =>
      occurrences.map(({ ends_at, starts_at }) => ({
        name,
        comment,
        starts_at: timeText(starts_at),
        ends_at: timeText(ends_at),
      })),
    )
    yield* writeResult(json, { windows: found }, () =>
      rows.length === 0 ? "the policy has no maintenance window\n" : tableText(OCCURRENCES, rows, output),
    )
  }),
})
