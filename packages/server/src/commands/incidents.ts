import { csvColumns } from "@tocsin/contract/formats/csvText"
import {
  Acknowledgement,
  AcknowledgeRequest,
  IncidentLogEntry,
  NoteRequest,
} from "@tocsin/contract/acknowledgements/Acknowledgements"
import { AgentId, CheckId, IncidentId } from "@tocsin/contract/formats/Identifiers"
import * as Instant from "@tocsin/contract/formats/Instant"
import { HeldIncidentListParameters } from "@tocsin/contract/v1/Parameters"
import { plainLine } from "@tocsin/contract/formats/plainLine"
import { IncidentState, Severity } from "@tocsin/contract/formats/Status"
import { toLogEntry } from "@tocsin/core/heart/model/IncidentRecord"
import { FIRST_CHANGES, LAST_CHANGES } from "@tocsin/core/kernel/model/timelineCut"
import { traceIncident } from "@tocsin/core/heart/notifications/traceIncident"
import { Incidents } from "@tocsin/core/heart/usecases/Incidents"
import { toAcknowledgement } from "@tocsin/core/heart/model/Acknowledgement"
import { type toHeldIncident, toIncidentDetail } from "@tocsin/core/heart/usecases/shownIncidents"
import { Effect, Schema } from "effect"
import { Argument, Command } from "effect/cli"
import { notFound } from "../CommandFailure.ts"
import { Output } from "../output/Output.ts"
import {
  ageText,
  type Column,
  labelsText,
  sectionsText,
  spanText,
  tableText,
  timeText,
  withoutMicros,
} from "../output/texts.ts"
import { actOn, listOn } from "./define.ts"
import * as flags from "./flags.ts"
import { ERROR_COLUMN, NOTIFICATION } from "./notificationColumns.ts"

const incidentArgument = flags
  .argument("INCIDENT", "ID of the incident")
  .pipe(Argument.withSchema(IncidentId))

const noSuchIncident = ({ id }: { readonly id: IncidentId }) =>
  notFound(`there is no incident ${id}: list incidents with tocsin incidents`)

const ack = actOn(Incidents.layer)({
  name: "ack",
  description: "Acknowledge an open incident: hold its firings until the acknowledgement ends",
  parameters: {
    id: incidentArgument,
    for: flags.text("for", "How long, such as 90m or 2d (default: SERVICE_ACK_FOR)"),
    until: flags.text("until", "Until when, such as 2027-01-31T08:30:00Z"),
    severity: flags.filter("severity", Severity.literals, "Only if the incident still has this severity"),
    note: flags.text("note", "A note for the other operators, up to 1,024 characters"),
  },
  reads: ({ id: _, ...given }) => flags.readArguments(AcknowledgeRequest, given),
  refused: { NotFound: noSuchIncident },
})(function* (request, { id }) {
  const acknowledged = yield* Incidents.use(({ acknowledge }) => acknowledge(id, request))
  const answer = Schema.encodeSync(Acknowledgement)(toAcknowledgement(acknowledged))
  return { answer, text: `${id}: acknowledged until ${answer.until}\n` }
})

const unack = actOn(Incidents.layer)({
  name: "unack",
  description: "Withdraw the acknowledgement of an incident",
  parameters: { id: incidentArgument },
  refused: { NotFound: noSuchIncident },
})(function* ({ id }) {
  const { count } = yield* Incidents.use(({ withdraw }) => withdraw(id))
  const done = count === 0 ? "was not acknowledged" : "no longer acknowledged"
  return { answer: { count }, text: `${id}: ${done}\n` }
})

const note = actOn(Incidents.layer)({
  name: "note",
  description: "Add a note to an incident, open or resolved",
  parameters: { id: incidentArgument, text: flags.argument("TEXT", "The note, up to 4,096 characters") },
  reads: ({ text }) => flags.readArguments(NoteRequest, { text }),
  refused: { NotFound: noSuchIncident },
})(function* (request, { id }) {
  const noted = yield* Incidents.use((operations) => operations.note(id, request))
  return { answer: Schema.encodeSync(IncidentLogEntry)(toLogEntry(noted)), text: `${id}: noted\n` }
})

type IncidentDetail = ReturnType<typeof toIncidentDetail>

const MEMBERS: ReadonlyArray<Column<IncidentDetail["members"][number]>> = [
  { title: "AGENT", cell: (member) => member.agent_id },
  { title: "CHECK", cell: (member) => member.check_id },
  { title: "TITLE", cell: ({ title }) => title ?? "", isOptional: true, least: 12 },
  { title: "SEVERITY", cell: (member) => member.severity, isState: true },
  { title: "SINCE", cell: (member) => timeText(member.joined_at) },
  { title: "UNTIL", cell: (member) => timeText(member.left_at) },
  { title: "LABELS", cell: ({ labels }) => labelsText(labels), least: 6 },
  { title: "SUMMARY", cell: (member) => member.summary ?? "", least: 16 },
]

const TIMELINE: ReadonlyArray<Column<IncidentDetail["timeline"][number]>> = [
  { title: "AT", cell: (change) => timeText(change.at) },
  { title: "AGENT", cell: (change) => change.agent_id },
  { title: "CHECK", cell: (change) => change.check_id },
  { title: "CHANGE", cell: (change) => change.change },
  { title: "SEVERITY", cell: (change) => change.severity, isState: true },
  { title: "INCIDENT", cell: (change) => change.incident_severity ?? "resolved", isState: true },
]

const LOG: ReadonlyArray<Column<IncidentDetail["log"][number]>> = [
  { title: "AT", cell: (action) => timeText(action.at) },
  { title: "ACTION", cell: ({ action }) => action },
  { title: "BY", cell: (action) => action.by },
  { title: "UNTIL", cell: ({ until }) => timeText(until) },
  { title: "NOTE", cell: (action) => action.text ?? "", least: 16 },
]

const SILENCES: ReadonlyArray<Column<IncidentDetail["silences"][number]>> = [
  { title: "SILENCED", cell: ({ starts_at }) => timeText(starts_at) },
  { title: "UNTIL", cell: ({ ends_at }) => timeText(ends_at) },
  { title: "BY", cell: ({ created_by }) => created_by },
  { title: "COVERS", cell: ({ covers_all }) => (covers_all ? "all" : "a part") },
  { title: "COMMENT", cell: ({ comment }) => comment, least: 16 },
]

const DELIVERIES: ReadonlyArray<Column<IncidentDetail["deliveries"][number]>> = [
  ...NOTIFICATION,
  { title: "UPDATED", cell: ({ updated_at }) => timeText(updated_at) },
  { title: "WHY", cell: (item) => item.why, least: 16 },
  ERROR_COLUMN,
]

const FACTS: ReadonlyArray<Column<readonly [name: string, value: string]>> = [
  { title: "INCIDENT", cell: ([name]) => name },
  { title: "", cell: ([, value]) => value, isState: true },
]

const notifiedText = ({ at, cause, receiver, severity }: IncidentDetail["notified"][number]): string =>
  `${receiver}: ${[timeText(at), cause ?? [], severity].flat().join(", ")}`

const nextText = ({ cause, due_at, holds, receiver }: IncidentDetail["next"][number]): string => {
  const due = due_at === null ? (holds.length === 0 ? "now" : []) : timeText(due_at)
  const held = holds.map(
    ({ hold, until }) => `held by ${hold}${until === null ? "" : ` until ${timeText(until)}`}`,
  )
  return `${receiver}: ${[due, cause ?? [], held].flat().join(", ")}`
}

const listFacts = ({
  acknowledgement,
  held_by,
  incident,
  next,
  notified,
  runbook,
}: IncidentDetail): ReadonlyArray<readonly [string, string]> => [
  ["id", incident.id],
  ["incident_key", incident.incident_key],
  ["state", incident.state],
  ["severity", incident.severity],
  ["opened_at", timeText(incident.opened_at)],
  ["resolved_at", timeText(incident.resolved_at)],
  ["resolution", incident.resolution?.text ?? ""],
  ["summary", incident.summary ?? ""],
  [
    "acknowledged",
    acknowledgement === null ? "" : `by ${acknowledgement.by} until ${timeText(acknowledgement.until)}`,
  ],
  ["held_by", held_by.join(", ")],
  ...(runbook === null ? [] : [["runbook", [runbook.url, runbook.note ?? []].flat().join(" ")] as const]),
  ...notified.map((receiver) => ["notified", notifiedText(receiver)] as const),
  ...next.map((firing) => ["next", nextText(firing)] as const),
]

const describe = (detail: IncidentDetail, output: Output["Service"]): string => {
  const section = <Row>(columns: ReadonlyArray<Column<Row>>, rows: ReadonlyArray<Row>) =>
    rows.length === 0 ? "" : tableText(columns, rows, output)
  const omitted = `${detail.timeline_left_out} changes are not kept: an incident keeps its first ${FIRST_CHANGES} and its last ${LAST_CHANGES}\n`
  return sectionsText([
    section(FACTS, listFacts(detail)),
    section(MEMBERS, detail.members),
    section(TIMELINE, detail.timeline),
    detail.timeline_left_out === 0 ? "" : omitted,
    section(LOG, detail.log),
    section(SILENCES, detail.silences),
    detail.silences_left_out === 0 ? "" : `${detail.silences_left_out} older silences are left out\n`,
    section(DELIVERIES, detail.deliveries),
  ])
}

/** Two lines a decision, which no width cuts: the reason matters most. */
const traceText = ({ entries, left_out }: ReturnType<typeof traceIncident>): string => {
  const lines = entries.map(
    ({ about, at, because, decided, event, rule }) =>
      `${(timeText(at) || "(no time)").padEnd(24)}  ${event.padEnd(10)}  ${plainLine(about)}: ${decided}\n${" ".repeat(26)}because ${plainLine(withoutMicros(because))} (${rule})\n`,
  )
  return `${lines.join("")}${left_out === 0 ? "" : `${left_out} decisions and changes are left out\n`}`
}

const show = actOn(Incidents.layer)({
  name: "show",
  description: "Show one incident: its members, its timeline, whom it notified and notifies next, and why",
  parameters: {
    id: incidentArgument,
    trace: flags.flag("trace", "Show its decisions instead, oldest first, each with its reason and rule"),
  },
  refused: { NotFound: noSuchIncident },
})(function* ({ id, trace }) {
  const held = yield* Incidents.use(({ incident }) => incident(id))
  if (trace) {
    const answer = traceIncident(held)
    return { answer, text: traceText(answer) }
  }
  const detail = toIncidentDetail(held)
  return { answer: detail, text: describe(detail, yield* Output) }
})

const { from, to } = HeldIncidentListParameters.fields
const Span = Schema.Struct({ since: from, until: to })

const readSpan = ({
  since,
  until,
}: {
  readonly since: string | undefined
  readonly until: string | undefined
}) => flags.readArguments(Span, { since, until })

const tookText = ({ opened_at, resolved_at }: ReturnType<typeof toHeldIncident>): string =>
  resolved_at === null || resolved_at === undefined
    ? ""
    : spanText(Instant.secondsBetween(opened_at, resolved_at), 2)

export const incidents = listOn(Incidents.layer)({
  name: "incidents",
  description: "List incidents, show one, acknowledge and note them",
  examples: [
    "tocsin incidents --state open",
    "tocsin incidents show 01a1f84d-4efb-7559-999e-636ca4ce6bd6",
    'tocsin incidents ack 01a1f84d-4efb-7559-999e-636ca4ce6bd6 --for 2h --note "on it"',
  ],
  filters: {
    state: flags.filter("state", IncidentState.literals, "Only incidents of this state"),
    severity: flags.filter("severity", Severity.literals, "Only incidents of this severity"),
    agent_id: flags.id("agent-id", AgentId, "Only incidents with a check of this agent, present or past"),
    check_id: flags.id("check-id", CheckId, "Only incidents with a check of this ID, present or past"),
    since: flags.time(
      "since",
      "Only incidents opened at this time or later (with --sort resolved_at: resolved)",
    ),
    until: flags.time("until", "Only incidents opened (or resolved) before this time"),
    search: flags.text("search", "Only incidents with these words in key, summary, title, agent or check"),
    sort: flags.choice(
      "sort",
      ["status", "opened_at", "resolved_at"],
      "Order by; status: open and worst first",
    ),
    direction: flags.choice("direction", ["desc", "asc"], "Direction"),
  },
  check: readSpan,
  query: Effect.fnUntraced(function* ({ since, until, ...filters }, page) {
    const span = yield* readSpan({ since, until })
    const between = { from: span.since, to: span.until }
    return yield* Incidents.use((operations) => operations.incidents({ ...filters, ...between, ...page }))
  }),
  columns: (now): ReadonlyArray<Column<ReturnType<typeof toHeldIncident>>> => [
    { title: "INCIDENT", cell: ({ id }) => id },
    { title: "STATE", cell: ({ state }) => state, isState: true },
    { title: "SEVERITY", cell: ({ severity }) => severity, isState: true },
    { title: "OPENED", cell: ({ opened_at }) => ageText(opened_at, now), align: "right" },
    { title: "TOOK", cell: tookText, align: "right" },
    { title: "KEY", cell: ({ incident_key }) => incident_key, least: 16 },
    { title: "TITLE", cell: ({ title }) => title ?? "", isOptional: true, least: 12 },
    { title: "ENDED", cell: ({ resolution }) => resolution?.text ?? "", isOptional: true, least: 12 },
    { title: "SUMMARY", cell: ({ summary }) => summary ?? "", least: 16 },
  ],
  of: "incidents",
  csv: csvColumns.incidents,
}).pipe(Command.withSubcommands([show, ack, unack, note]))
