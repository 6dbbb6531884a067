import type { CheckAvailability, Report } from "@tocsin/client"
import type { ComponentChildren } from "preact"
import { useRef } from "preact/hooks"
import { countText, momentText, numberText, rangeText, spanText } from "../../format/times.ts"
import { now } from "../../state/clock.ts"
import { listOf, MOST } from "../../state/lists.ts"
import { endText } from "../../state/incidentActions.ts"
import { route } from "../../state/location.ts"
import { linkTo } from "../../state/Route.ts"
import { Export } from "../../view/Export.tsx"
import { Field, QuietButton } from "../../view/forms.tsx"
import { chosenDays, Days, FilterField, GroupBy, parameterOf } from "../../view/navigation.tsx"
import { Empty, Mark, ReadingNote } from "../../view/states.tsx"
import { useRead } from "../../view/usePages.ts"
import { monthsUntil, spanOfReport } from "./spanOfReport.ts"

type Row = ReadonlyArray<ComponentChildren>

interface TableProps {
  readonly title: string
  readonly heads: ReadonlyArray<string>
  readonly rows: ReadonlyArray<Row>
  /** How many of them two pages of A4 have room for. */
  readonly onPaper: number
  /** How many there are beside these rows. */
  readonly leftOut?: number
}

/** A table of which paper shows the first rows. */
const ReportTable = ({ heads, leftOut = 0, onPaper, rows, title }: TableProps) => (
  <section class="report-part">
    <h2>{title}</h2>
    {rows.length === 0 ? (
      <p class="lead">None</p>
    ) : (
      <table class="report">
        <thead>
          <tr>
            {heads.map((head) => (
              <th key={head} scope="col">
                {head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((cells, place) => (
            <tr key={place} class={place < onPaper ? undefined : "off-paper"}>
              {cells.map((cell, column) =>
                column === 0 ? (
                  <th key={column} scope="row">
                    {cell}
                  </th>
                ) : (
                  <td key={column}>{cell}</td>
                ),
              )}
            </tr>
          ))}
        </tbody>
      </table>
    )}
    {leftOut > 0 && <p class="lead off-paper">{numberText(leftOut)} more: choose a shorter span</p>}
    {rows.length + leftOut > onPaper && (
      <p class="on-paper">{numberText(rows.length + leftOut - Math.min(rows.length, onPaper))} more</p>
    )}
  </section>
)

const percentText = (percent: number | null): string =>
  percent === null ? "no data" : `${percent.toFixed(3)} %`

const lasted = (seconds: number): string => (seconds === 0 ? "" : spanText(seconds * 1_000))

const CheckLink = ({ agent_id, check_id, title }: Report["late"][number] | Report["worst"][number]) => (
  <>
    <a href={linkTo("checks", [agent_id, check_id])}>{title ?? `${agent_id}/${check_id}`}</a>
    {title !== null && (
      <>
        {" "}
        <small>
          {agent_id}/{check_id}
        </small>
      </>
    )}
  </>
)

/**
 * The availability of a check, and of how much of the span it is. One that was never worse than a warning was there all
 * the time.
 */
const Percent = ({ percent, seconds: { no_data, planned: _, ...known } }: Report["worst"][number]) => {
  const sum = Object.values(known).reduce((all, each) => all + each, 0)
  const { ok, warning } = known
  return (
    <>
      {warning > 0 && ok + warning === sum ? "warned" : percentText(percent)}
      {percent !== null && no_data > 0 && <small> of {lasted(sum)}</small>}
    </>
  )
}

const Tables = ({ report, group }: { readonly report: Report; readonly group: string }) => {
  const states = (["critical", "warning", "unknown", "late"] as const).filter((state) =>
    report.worst.some(({ seconds }) => seconds[state] > 0),
  )
  // With day and year, since it is read later, and on paper.
  const at = (moment: string) => momentText(Date.parse(moment), 0)
  return (
    <>
      <ReportTable
        title="Availability"
        heads={[group === "" ? "Group" : group, "Checks", "Available"]}
        rows={report.groups.map((each) => [
          each.group ?? (group === "" ? "All checks" : "without the label"),
          numberText(each.checks),
          each.warned === true ? "warned" : percentText(each.percent),
        ])}
        onPaper={15}
      />
      <ReportTable
        title="Least available checks"
        heads={[
          "Check",
          "Available",
          ...states.map((state) => `${state.slice(0, 1).toUpperCase()}${state.slice(1)}`),
        ]}
        rows={report.worst.map((check) => [
          <CheckLink key="name" {...check} />,
          <Percent key="percent" {...check} />,
          ...states.map((state) => lasted(check.seconds[state])),
        ])}
        onPaper={10}
      />
      <ReportTable
        title="Incidents"
        heads={["Incident", "Severity", "Opened", "Open for", "Acknowledged"]}
        rows={report.incidents.map((each) => [
          <a key="name" href={linkTo("incidents", [each.id])}>
            {each.title ?? each.incident_key}
          </a>,
          <Mark key="severity" state={each.severity} />,
          at(each.opened_at),
          each.state === "open"
            ? `${lasted(each.duration_seconds)}, still open`
            : [lasted(each.duration_seconds) || "0s", endText(each) ?? []].flat().join(", "),
          each.acknowledged_by === null
            ? "no"
            : `${each.acknowledged_by}, after ${lasted(each.acknowledged_after_seconds ?? 0) || "0s"}`,
        ])}
        onPaper={18}
        {...(report.left_out && { leftOut: report.left_out.incidents })}
      />
      <ReportTable
        title="Late"
        heads={["Check", "From", "For"]}
        rows={report.late.map((each) => [
          <CheckLink key="name" {...each} />,
          at(each.from),
          spanText(Date.parse(each.to) - Date.parse(each.from)),
        ])}
        onPaper={10}
        {...(report.left_out && { leftOut: report.left_out.late })}
      />
    </>
  )
}

/** Of the parameter `month`: the days count. */
const BY_DAYS = "days"

const monthFormat = new Intl.DateTimeFormat(undefined, { month: "long", year: "numeric" })
const monthName = (month: string): string => {
  const [year = 0, number = 1] = month.split("-").map(Number)
  return monthFormat.format(new Date(year, number - 1, 1))
}

const Read = ({
  span,
  group,
  match,
}: Readonly<Record<"group" | "match", string>> & { readonly span: object }) => {
  const reading = useRead<Report>("ops/v1/report", { ...span, group, match }, [])
  // A month that goes on is read again every five minutes, by another end.
  const latest = useRef<Report | undefined>(undefined)
  const { value = latest.current } = reading
  latest.current = value
  const checks = value?.groups.reduce((sum, each) => sum + each.checks, 0) ?? 0
  return (
    <>
      <ReadingNote reading={{ ...reading, value }} />
      {value !== undefined && (
        <>
          <p class="lead">
            {countText(checks, "check")}: percentages are of the time with data, without maintenance
          </p>
          <Tables report={value} group={group} />
        </>
      )}
    </>
  )
}

/** How checks were during a month or another span, to read, to print and as CSV (docs/rules.md#reports). */
export const ReportPage = () => {
  const { from = "", group = "", match = "", month = "", to = "" } = route.value.parameters
  const isByDays = month === BY_DAYS || (month === "" && from + to !== "")
  const span = spanOfReport(isByDays ? chosenDays() : { month }, now.value)
  const months = monthsUntil(now.peek())
  return (
    <>
      <div class="filters">
        <Field
          label="Month "
          options={[...months.map((each) => [each, monthName(each)] as const), [BY_DAYS, "by days"]]}
          {...parameterOf("month")}
          value={isByDays ? BY_DAYS : month || (months[0] ?? "")}
        />
        {isByDays && <Days />}
        <GroupBy />
        <FilterField label="Matchers" what="label:team = shop" parameter="match" />
        {span !== undefined && (
          <Export
            name="report"
            columns="availability"
            lists={[listOf<CheckAvailability>("ops/v1/availability", { ...span, match }, MOST)]}
          />
        )}
        <QuietButton does={() => print()}>Print</QuietButton>
      </div>
      {span === undefined ? (
        <Empty title="Nothing has passed of this time yet">Choose an earlier day or month.</Empty>
      ) : (
        <>
          <p>
            <b>{rangeText(span.from, span.to, 0)}</b>
          </p>
          <Read key={[month, from, to, group, match].join(" ")} span={span} group={group} match={match} />
        </>
      )}
    </>
  )
}
