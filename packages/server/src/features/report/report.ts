import {
  AvailabilityParameters,
  type CheckAvailability,
  hasOnlyWarned,
} from "@tocsin/contract/availability/Availability"
import { csvColumns } from "@tocsin/contract/formats/csvText"
import * as Instant from "@tocsin/contract/formats/Instant"
import { type Report, ReportParameters } from "@tocsin/contract/report/Report"
import { Availability } from "@tocsin/core/heart/availability/readAvailability"
import { Reports } from "@tocsin/core/features/report/readReport"
import { Duration, Effect, Layer, Schema, Struct } from "effect"
import * as flags from "../../commands/flags.ts"
import { listOn } from "../../commands/define.ts"
import { Output } from "../../output/Output.ts"
import { type Column, countText, sectionsText, spanText, tableText, timeText } from "../../output/texts.ts"

const Asked = Schema.Struct({
  ...Struct.pick(AvailabilityParameters.fields, ["match", "from", "to"]),
  group: ReportParameters.fields.group,
})

const readSpan = Effect.fnUntraced(function* (given: Readonly<Record<string, unknown>>) {
  const { from, match, to = yield* Instant.now, group } = yield* flags.readArguments(Asked, given)
  const start = from ?? Instant.minus(to, Duration.days(1))
  return { from: start, to, ...(match !== undefined && { match }), ...(group !== undefined && { group }) }
})

/** A check that only warned was there all the time. */
const availableText = (percent: number | null, warned: boolean): string =>
  warned ? "warned" : percent === null ? "" : `${percent.toFixed(3)} %`

/** Cut like the per cent: a failure of seconds never shows as none. */
const timeIn = (title: string, state: keyof CheckAvailability["seconds"]): Column<CheckAvailability> => ({
  title,
  cell: ({ seconds }) => (seconds[state] === 0 ? "" : spanText(seconds[state], 2)),
  align: "right",
})

const GROUPS: ReadonlyArray<Column<Report["groups"][number]>> = [
  { title: "GROUP", cell: ({ group }) => group ?? "(none)" },
  { title: "CHECKS", cell: ({ checks }) => countText(checks), align: "right" },
  { title: "OK", cell: ({ percent, warned = false }) => availableText(percent, warned), align: "right" },
]

const INCIDENTS: ReadonlyArray<Column<Report["incidents"][number]>> = [
  { title: "INCIDENT", cell: ({ id }) => id },
  { title: "SEVERITY", cell: ({ severity }) => severity, isState: true },
  { title: "OPENED", cell: ({ opened_at }) => timeText(opened_at) },
  { title: "OPEN FOR", cell: ({ duration_seconds }) => spanText(duration_seconds, 2), align: "right" },
  { title: "ACKNOWLEDGED", cell: ({ acknowledged_by }) => acknowledged_by ?? "" },
  {
    title: "AFTER",
    cell: ({ acknowledged_after_seconds: after }) => (after === null ? "" : spanText(after, 2)),
    align: "right",
  },
  { title: "ENDED", cell: ({ resolution }) => resolution?.text ?? "", isOptional: true, least: 12 },
  { title: "NAME", cell: ({ incident_key, title }) => title ?? incident_key, least: 16 },
]

const LATE: ReadonlyArray<Column<Report["late"][number]>> = [
  { title: "LATE", cell: ({ agent_id, check_id }) => `${agent_id}/${check_id}` },
  { title: "TITLE", cell: ({ title }) => title ?? "", isOptional: true, least: 12 },
  { title: "FROM", cell: ({ from }) => timeText(from) },
  { title: "TO", cell: ({ to }) => timeText(to) },
]

/** A report beside its checks: groups, incidents, and lateness. */
const describe = ({ groups, incidents, late, left_out }: Report, output: Output["Service"]): string => {
  const table = <Row>(columns: ReadonlyArray<Column<Row>>, rows: ReadonlyArray<Row>) =>
    rows.length === 0 ? [] : [tableText(columns, rows, output)]
  return sectionsText([
    ...table(GROUPS, groups),
    ...table(INCIDENTS, incidents),
    ...table(LATE, late),
    ...(left_out === undefined
      ? []
      : [`${left_out.incidents} more incidents, ${left_out.late} more late; choose a shorter span\n`]),
  ])
}

export const report = listOn(Layer.merge(Availability.layer, Reports.layer))({
  name: "report",
  description:
    "Report how long checks were ok during a span, and how long not, with the incidents\n" +
    "  and what was late. What is planned follows the maintenance windows of the present policy",
  short: "Report how long checks were ok during a span, and which incidents were open",
  examples: [
    "tocsin report",
    "tocsin report --group team --since 30d",
    "tocsin report --match 'label:team = db' --since 60d --until 30d",
  ],
  filters: {
    match: flags.text("match", "Matchers with commas between them, such as agent_id = web1"),
    group: flags.text("group", "The key of a label: availability by its values"),
    from: flags.time("since", "Where the span begins (default: 24 hours before its end)", "from"),
    to: flags.time("until", "Where the span ends (default: now)", "to"),
  },
  check: flags.reader(Asked),
  query: Effect.fnUntraced(function* (filters, page) {
    const { group: _, ...span } = yield* readSpan(filters)
    return yield* Availability.use(({ availability }) => availability({ phases: false, ...page, ...span }))
  }),
  columns: () => [
    { title: "AGENT", cell: ({ agent_id }) => agent_id },
    { title: "CHECK", cell: ({ check_id }) => check_id },
    {
      title: "OK",
      cell: ({ percent, seconds }) => availableText(percent, hasOnlyWarned(seconds)),
      align: "right",
    },
    timeIn("WARNING", "warning"),
    timeIn("UNKNOWN", "unknown"),
    timeIn("CRITICAL", "critical"),
    timeIn("LATE", "late"),
    timeIn("PLANNED", "planned"),
    timeIn("NO DATA", "no_data"),
  ],
  further: Effect.fnUntraced(function* (filters) {
    const span = yield* readSpan(filters)
    const answer = yield* Reports.use((operations) => operations.report(span))
    return { answer, text: describe(answer, yield* Output) }
  }),
  of: "checks",
  csv: csvColumns.availability,
})
