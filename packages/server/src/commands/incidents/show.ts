import { IncidentId } from "@tocsin/core/contract/Identifiers"
import * as Instant from "@tocsin/core/contract/Instant"
import { FIRST_CHANGES, LAST_CHANGES } from "@tocsin/core/incidents/IncidentRecord"
import { Operations } from "@tocsin/core/usecases/Operations"
import { toIncidentDetail } from "@tocsin/core/usecases/toResources"
import { Effect } from "effect"
import { Argument, Command } from "effect/cli"
import { notFound } from "../../CommandFailure.ts"
import { jsonText } from "../../output/jsonText.ts"
import { Output } from "../../output/Output.ts"
import { type Column, makeTable } from "../../output/makeTable.ts"
import * as flags from "../flags.ts"
import { useCases } from "../UseCases.ts"

type IncidentDetail = ReturnType<typeof toIncidentDetail>

const MEMBERS: ReadonlyArray<Column<IncidentDetail["members"][number]>> = [
  { title: "AGENT", cell: (member) => member.agent_id },
  { title: "CHECK", cell: (member) => member.check_id },
  { title: "SEVERITY", cell: (member) => member.severity, isState: true },
  { title: "SINCE", cell: (member) => Instant.format(member.joined_at) },
  { title: "UNTIL", cell: (member) => (member.left_at === null ? "" : Instant.format(member.left_at)) },
  { title: "SUMMARY", cell: (member) => member.summary ?? "", least: 16 },
]

const TIMELINE: ReadonlyArray<Column<IncidentDetail["timeline"][number]>> = [
  { title: "AT", cell: (change) => Instant.format(change.at) },
  { title: "AGENT", cell: (change) => change.agent_id },
  { title: "CHECK", cell: (change) => change.check_id },
  { title: "CHANGE", cell: (change) => change.change },
  { title: "SEVERITY", cell: (change) => change.severity, isState: true },
  { title: "INCIDENT", cell: (change) => change.incident_severity ?? "resolved", isState: true },
]

const DELIVERIES: ReadonlyArray<Column<IncidentDetail["deliveries"][number]>> = [
  { title: "NOTIFICATION", cell: (item) => item.id },
  { title: "NOTIFIER", cell: (item) => item.notifier },
  { title: "TELLS", cell: (item) => item.event_type },
  { title: "STATE", cell: (item) => item.state, isState: true },
  { title: "ATTEMPTS", cell: (item) => String(item.attempts), align: "right" },
  { title: "LAST ERROR", cell: (item) => item.last_error ?? "", least: 16 },
]

const FACTS: ReadonlyArray<Column<readonly [name: string, value: string]>> = [
  { title: "INCIDENT", cell: ([name]) => name },
  { title: "", cell: ([, value]) => value, isState: true },
]

const factsOf = ({ incident }: IncidentDetail): ReadonlyArray<readonly [string, string]> => [
  ["id", incident.id],
  ["incident_key", incident.incident_key],
  ["state", incident.state],
  ["severity", incident.severity],
  ["opened_at", Instant.format(incident.opened_at)],
  ["resolved_at", incident.resolved_at ? Instant.format(incident.resolved_at) : ""],
  ["summary", incident.summary ?? ""],
]

const leftOut = ({ timeline_left_out: count }: IncidentDetail): ReadonlyArray<string> =>
  count === 0
    ? []
    : [
        `${count} changes are left out: an incident keeps its first ${FIRST_CHANGES} and its last ${LAST_CHANGES}\n`,
      ]

const describe = (detail: IncidentDetail, output: Output["Service"]): string => {
  const section = <Row>(
    columns: ReadonlyArray<Column<Row>>,
    rows: ReadonlyArray<Row>,
  ): ReadonlyArray<string> => {
    const table = makeTable(columns, rows, output)
    return rows.length === 0 ? [] : [table.header + table.lines(rows)]
  }
  return [
    ...section(FACTS, factsOf(detail)),
    ...section(MEMBERS, detail.members),
    ...section(TIMELINE, detail.timeline),
    ...leftOut(detail),
    ...section(DELIVERIES, detail.deliveries),
  ].join("\n")
}

/** `tocsin incidents show` */
export const show = Command.make(
  "show",
  {
    id: Argument.String("INCIDENT").pipe(
      Argument.withDescription("Id of the incident"),
      Argument.withSchema(IncidentId),
    ),
    json: flags.json,
  },
  Effect.fnUntraced(function* ({ id, json }) {
    const output = yield* Output
    const operations = yield* Operations
    const story = yield* Effect.catchTag(operations.incident(id), "NotFound", () =>
      Effect.fail(notFound(`there is no incident ${id}: list incidents with tocsin incidents`)),
    )
    const detail = toIncidentDetail(story)
    const isForPerson = output.columns !== undefined
    yield* output.write(json ? `${jsonText(detail, isForPerson)}\n` : describe(detail, output))
  }, Effect.provide(useCases)),
).pipe(Command.withDescription("Show one incident with its members, its story and its notifications"))
