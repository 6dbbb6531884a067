import { plainLine } from "@tocsin/contract/formats/plainLine"
import * as Instant from "@tocsin/contract/formats/Instant"
import { colourOf, cutToWidth, paint, type TableStyle, timeText } from "./texts.ts"
import type { Severity } from "@tocsin/contract/formats/Status"
import type {
  SimulatedIncident,
  SimulatedNotification,
  SimulationReport,
} from "@tocsin/simulation/SimulationReport"
import { displayWidth } from "effect/cli/CliOutput"

const USUAL_COLUMNS = 100
/** A label takes at most this share of a line. */
const LABEL_SHARE = 3
const LEAST_CELLS = 10
const GAP = "  "
const NOTHING = "."

interface Glyphs {
  readonly severity: Readonly<Record<Severity, string>>
  readonly firing: string
  readonly resolved: string
  readonly both: string
}

/** For files and other programs. */
const LETTERS: Glyphs = {
  severity: { warning: "W", unknown: "U", critical: "C" },
  firing: "^",
  resolved: "v",
  both: "x",
}
const BLOCKS: Glyphs = {
  severity: { warning: "▒", unknown: "▓", critical: "█" },
  firing: "▲",
  resolved: "▼",
  both: "◆",
}

const WORSE: ReadonlyArray<Severity> = ["warning", "unknown", "critical"]

interface Scale {
  readonly from: bigint
  readonly span: bigint
  readonly cells: number
}

const cellOf = ({ from, span, cells }: Scale, at: bigint): number =>
  Math.min(cells - 1, Number(((at - from) * BigInt(cells)) / span))

/** The incidents of one key, in one line. */
interface Track {
  readonly key: string
  readonly incidents: Array<SimulatedIncident>
  readonly notifications: Array<SimulatedNotification>
}

const tracksOf = ({ incidents, notifications }: SimulationReport): ReadonlyArray<Track> => {
  const tracks = new Map<string, Track>()
  const trackOfIncident = new Map<string, Track>()
  for (const incident of incidents) {
    const key = plainLine(incident.incident_key)
    const track = tracks.get(key) ?? { key, incidents: [], notifications: [] }
    tracks.set(key, track)
    track.incidents.push(incident)
    trackOfIncident.set(incident.id, track)
  }
  for (const notification of notifications)
    trackOfIncident.get(notification.incident_id)?.notifications.push(notification)
  return Array.from(tracks.values())
}

const severities = ({ incidents }: Track, scale: Scale): ReadonlyArray<Severity | undefined> => {
  const cells: Array<Severity | undefined> = Array.from({ length: scale.cells })
  const rank = (severity: Severity | undefined) => (severity === undefined ? -1 : WORSE.indexOf(severity))
  for (const { timeline } of incidents) {
    for (const [index, { at, incident_severity: severity }] of timeline.entries()) {
      if (severity === null) continue
      const end = timeline[index + 1]?.at ?? scale.from + scale.span
      for (let cell = cellOf(scale, at); cell <= cellOf(scale, end); cell += 1)
        if (rank(severity) > rank(cells[cell])) cells[cell] = severity
    }
  }
  return cells
}

const bar = (track: Track, scale: Scale, glyphs: Glyphs, hasColour: boolean): string => {
  const cells = severities(track, scale)
  let drawn = ""
  for (let start = 0, end = 0; start < cells.length; start = end) {
    const severity = cells[start]
    while (end < cells.length && cells[end] === severity) end += 1
    const run = (severity === undefined ? NOTHING : glyphs.severity[severity]).repeat(end - start)
    const colour = severity === undefined ? "dim" : colourOf(severity)
    drawn += hasColour && colour !== undefined ? paint(run, colour) : run
  }
  return drawn
}

const marks = ({ notifications }: Track, scale: Scale, glyphs: Glyphs): string => {
  const cells: Array<string> = Array.from({ length: scale.cells }, () => " ")
  for (const { at, event_type } of notifications) {
    const cell = cellOf(scale, at)
    const present = cells[cell]
    cells[cell] = present === " " || present === glyphs[event_type] ? glyphs[event_type] : glyphs.both
  }
  return cells.join("").trimEnd()
}

/** A moment without its seconds. */
const toMinutes = (moment: string): string => moment.replace(/:\d\d(?:\.\d+)?(?=Z| )/u, "")

/** The first and last moment over the ends of a line; shortened on a narrow one. */
const axis = ({ from, span, cells }: Scale): string => {
  const moments = [from, from + span].map((micros) => timeText(Instant.fromMicros(micros)))
  const [left = "", right = ""] = moments.join(" ").length > cells ? moments.map(toMinutes) : moments
  const room = cells - left.length - right.length
  return room < 1 ? left : left + " ".repeat(room) + right
}

const legend = ({ severity, firing, resolved, both }: Glyphs): string =>
  `${severity.warning} warning, ${severity.unknown} unknown, ${severity.critical} critical; ` +
  `${firing} firing sent, ${resolved} resolved sent, ${both} both`

/**
 * Draws incidents over time, a line for each key, with marks below it for notifications. As wide as
 * the terminal, or in letters without one. Empty if there was no incident.
 */
export const drawTimeline = (report: SimulationReport, style: TableStyle): string => {
  const tracks = tracksOf(report)
  if (tracks.length === 0 || report.from === null || report.until === null) return ""
  const columns = style.columns ?? USUAL_COLUMNS
  const widest = Math.max(...tracks.map(({ key }) => displayWidth(key)))
  const labels = Math.min(widest, Math.floor(columns / LABEL_SHARE))
  const cells = Math.max(LEAST_CELLS, columns - labels - GAP.length)
  const span = report.until - report.from
  const scale = { from: report.from, span: span > 0n ? span : 1n, cells }
  const glyphs = style.columns === undefined ? LETTERS : BLOCKS
  const line = (label: string, content: string): string => {
    const cut = cutToWidth(label, labels)
    return `${cut}${" ".repeat(Math.max(0, labels - displayWidth(cut)))}${GAP}${content}`.trimEnd()
  }
  const drawn = tracks.flatMap((track) => {
    const sent = marks(track, scale, glyphs)
    const incidents = line(track.key, bar(track, scale, glyphs, style.hasColour))
    return sent === "" ? [incidents] : [incidents, line("", sent)]
  })
  return `${[line("", axis(scale)), ...drawn, cutToWidth(legend(glyphs), columns)].join("\n")}\n`
}
