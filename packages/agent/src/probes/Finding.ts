import type { CheckStatus } from "@tocsin/reporting/agent/CheckReport"
import { EXIT_CODES } from "@tocsin/contract/exitCodes"
import { withoutTrailing } from "@tocsin/contract/withoutTrailing"
import type { Thresholds } from "./Range.ts"

/** A figure that a probe measured. */
export interface Measure {
  /** Its name in the performance data. */
  readonly label: string
  readonly value: number
  readonly unit: "" | "s" | "%" | "B" | "d"
  readonly thresholds?: Thresholds
  /** The words for a crossed threshold. */
  readonly words: string
}

/** Something that is wrong whatever the thresholds are. */
export interface Fault {
  readonly status: Exclude<CheckStatus, "ok">
  readonly words: string
}

/** The findings of a probe. */
export interface Finding {
  /** The words where nothing is wrong. */
  readonly words: string
  readonly measures: ReadonlyArray<Measure>
  readonly faults?: ReadonlyArray<Fault>
  /** For the next run, kept together with the result. */
  readonly note?: string
}

/** A finding as a result. */
export interface Judged {
  readonly status: CheckStatus
  readonly exitCode: number
  readonly output: string
}

/** From bad to worse, as the plugins count. */
const BY_WEIGHT: ReadonlyArray<CheckStatus> = ["ok", "unknown", "warning", "critical"]

const statusOf = ({ value, thresholds }: Measure): CheckStatus => {
  if (thresholds?.critical?.isBad(value)) return "critical"
  return thresholds?.warning?.isBad(value) ? "warning" : "ok"
}

/** A finding judged by its thresholds, in the words and with the performance data of a plugin. */
export const judge = (title: string, { words, measures, faults = [] }: Finding): Judged => {
  const crossed = measures.flatMap((one): ReadonlyArray<Fault> => {
    const found = statusOf(one)
    return found === "ok" ? [] : [{ status: found, words: one.words }]
  })
  const all = [...faults, ...crossed]
  const status = BY_WEIGHT[Math.max(0, ...all.map((one) => BY_WEIGHT.indexOf(one.status)))] ?? "unknown"
  const worstFirst = all.toSorted((a, b) => BY_WEIGHT.indexOf(b.status) - BY_WEIGHT.indexOf(a.status))
  const said = all.length === 0 ? words : [...new Set(worstFirst.map((one) => one.words))].join(", ")
  const data = measures.map(performanceOf).join(" ")
  // A bar would begin the performance data, and a line break more text.
  const lines = said.replaceAll("|", "/").split("\n")
  const shown = lines.flatMap((part) => part.trim() || []).join(" ")
  const line = `${title} ${status.toUpperCase()} - ${shown}`
  return { status, exitCode: EXIT_CODES[status], output: data === "" ? line : `${line} | ${data}` }
}

const DIGITS = 1e6

const performanceOf = ({ label, value, unit, thresholds }: Measure): string => {
  const name = /^[A-Za-z0-9_./-]+$/.test(label) ? label : `'${label.replaceAll("'", "''")}'`
  const text = String(Math.round(value * DIGITS) / DIGITS)
  // Days are no unit of performance data.
  const unitText = unit === "d" ? "" : unit
  const { warning, critical } = thresholds ?? {}
  return withoutTrailing(`${name}=${text}${unitText};${warning?.text ?? ""};${critical?.text ?? ""}`, ";")
}
