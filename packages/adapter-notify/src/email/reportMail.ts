import { hasOnlyWarned } from "@tocsin/contract/availability/Availability"
import { escapeHtml } from "@tocsin/contract/formats/escapeHtml"
import * as Instant from "@tocsin/contract/formats/Instant"
import { plainLine } from "@tocsin/contract/formats/plainLine"
import type { Report } from "@tocsin/contract/report/Report"
import type { MonthlyReport } from "@tocsin/core/heart/notifications/Notifiers"
import { readerTexts, type ReaderTexts } from "@tocsin/core/heart/notifications/readerTexts"

/** The rows for which a mail has room; the console has the others. */
const MOST_ROWS = 20

/** A list of the mail: of each row, a value and what it is about. */
interface Part {
  readonly title: string
  readonly rows: ReadonlyArray<readonly [value: string, subject: string]>
  /** How many more there are. */
  readonly more: number
}

const percentText = (percent: number | null): string =>
  percent === null ? "no data" : `${percent.toFixed(3)} %`

const nameOf = ({ agent_id, check_id, title }: Report["late"][number] | Report["worst"][number]): string =>
  title === null ? `${agent_id}/${check_id}` : `${title} (${agent_id}/${check_id})`

const STATES = ["critical", "warning", "unknown", "late"] as const

const countText = (count: number, one: string): string => `${count} ${one}${count === 1 ? "" : "s"}`

/** The availability of a check. One that was never worse than a warning was there all the time. */
const availableText = ({ percent, seconds }: Report["worst"][number]): string =>
  hasOnlyWarned(seconds) ? "warned" : percentText(percent)

const worstRows = ({ worst }: Report, { length }: ReaderTexts): Part["rows"] =>
  worst
    .filter(({ percent }) => percent !== 100)
    .map((check) => {
      const spent = STATES.flatMap((state) =>
        check.seconds[state] > 0 ? [`${state} ${length(check.seconds[state])}`] : [],
      )
      return [availableText(check), [nameOf(check), spent.join(", ")].filter(Boolean).join(": ")]
    })

const incidentRows = ({ incidents }: Report, { length, time }: ReaderTexts): Part["rows"] =>
  incidents.map((each) => {
    const { acknowledged_after_seconds: after, acknowledged_by: by } = each
    const parts = [
      `${each.severity}, ${each.state === "open" ? "still open after" : "open for"} ${length(each.duration_seconds)}`,
      ...(each.resolution === null || each.resolution.reason === "recovered" ? [] : [each.resolution.text]),
      by === null ? "not acknowledged" : `acknowledged by ${by} after ${length(after ?? 0)}`,
    ]
    return [time(each.opened_at, "minute"), `${each.title ?? each.incident_key}: ${parts.join(", ")}`]
  })

const lateRows = ({ late }: Report, { length, time }: ReaderTexts): Part["rows"] =>
  late.map((each) => [
    time(each.from, "minute"),
    `${nameOf(each)}: for ${length(Math.round(Instant.secondsBetween(each.from, each.to)))}`,
  ])

/** The lists of a report, in the order in which the console has them. */
const partsOf = (report: Report, tz: string): ReadonlyArray<Part> => {
  const texts = readerTexts({ tz })
  const part = (title: string, rows: Part["rows"], leftOut = 0): Part => ({
    title,
    rows: rows.slice(0, MOST_ROWS).map(([value, subject]) => [value, plainLine(subject)]),
    more: Math.max(0, rows.length - MOST_ROWS) + leftOut,
  })
  return [
    part(
      "Availability",
      report.groups.map(({ checks, percent, warned }) => [
        warned ? "warned" : percentText(percent),
        countText(checks, "check"),
      ]),
    ),
    part("Least available checks", worstRows(report, texts)),
    part("Incidents", incidentRows(report, texts), report.left_out?.incidents),
    part("Late", lateRows(report, texts), report.left_out?.late),
  ]
}

const asText = ({ more, rows, title }: Part): string =>
  [
    title,
    ...(rows.length === 0 ? ["  None"] : rows.map(([value, subject]) => `  ${value}  ${subject}`)),
    ...(more > 0 ? [`  and ${more} more`] : []),
  ].join("\n")

const CELL =
  'style="padding:3px 14px 3px 0;text-align:left;vertical-align:top;font-weight:400;overflow-wrap:anywhere"'
const VALUE = CELL.replace("anywhere", "normal;white-space:nowrap")

const asHtml = ({ more, rows, title }: Part): string => {
  const cells = rows.map(
    ([value, subject]) =>
      `<tr><th scope="row" ${VALUE}>${escapeHtml(value)}</th><td ${CELL}>${escapeHtml(subject)}</td></tr>`,
  )
  return (
    `<h2 style="margin:22px 0 6px;font-size:16px">${title}</h2>` +
    (rows.length === 0
      ? "<p>None</p>"
      : `<table style="border-collapse:collapse">${cells.join("")}</table>`) +
    (more > 0 ? `<p>and ${more} more</p>` : "")
  )
}

/** The mail with the report of a month, in English (docs/rules.md#monthly-reports). */
export const reportMail = ({ link, month, report, tz }: MonthlyReport) => {
  const date = new Date(`${month}-01T00:00:00Z`)
  const title = `Report of ${date.toLocaleDateString("en-US", { month: "long", year: "numeric", timeZone: "UTC" })}`
  const parts = partsOf(report, tz)
  const anchor =
    link === undefined
      ? ""
      : `<p style="margin:22px 0 0"><a href="${escapeHtml(link)}">Open in Tocsin</a></p>`
  return {
    subject: `Tocsin: ${title}`,
    text: `${[title, ...parts.map(asText), ...(link === undefined ? [] : [link])].join("\n\n")}\n`,
    html:
      '<!doctype html><html lang="en" style="color-scheme:light dark"><head><meta charset="utf-8">' +
      '<meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light dark"></head>' +
      '<body style="margin:0;padding:16px;font:16px/1.4 system-ui,sans-serif"><div style="max-width:720px">' +
      `<h1 style="margin:0;font-size:18px">${title}</h1>${parts.map(asHtml).join("")}${anchor}</div></body></html>`,
  }
}
