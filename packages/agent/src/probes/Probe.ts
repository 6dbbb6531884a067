import { EXIT_CODES } from "@tocsin/contract/checks/exitCodes"
import { withoutTrailing } from "@tocsin/contract/formats/withoutTrailing"
import type { CheckStatus } from "@tocsin/reporting/agent/CheckReport"
import type { Clock } from "@tocsin/reporting/agent/ServerTime"
import type { LookupFunction } from "node:net"
import { type Reader, text } from "../config/Reader.ts"
import type { Thresholds } from "./thresholds.ts"

export interface ProbeTargets {
  /** Of all names: resolves to allowed addresses only. */
  readonly lookup: LookupFunction
  /** Why it must not connect to an IP address; `undefined` if it may. */
  readonly refusalOf: (address: string) => string | undefined
  /** Whether no result may show a record of a name; absent where each may be shown. */
  readonly refusesAnswer?: (record: string, name: string) => boolean
}

export interface ProbeAround {
  readonly clock: Clock
  /** Aborted at the deadline and when the agent stops. */
  readonly signal: AbortSignal
  /** Absent in an agent, which may connect to any address and reads whole answers. */
  readonly targets?: ProbeTargets | undefined
  /** The note that the probe left for its next run in its last finding. */
  readonly note?: string | undefined
}

export interface Measure {
  /** Its name in the performance data. */
  readonly label: string
  readonly value: number
  readonly unit: "" | "s" | "%" | "B" | "d"
  readonly thresholds?: Thresholds | undefined
  /** The words for a crossed threshold; empty where something else is named in its place. */
  readonly words: string
}

/** Something that is wrong whatever the thresholds are. */
export interface Fault {
  readonly status: Exclude<CheckStatus, "ok">
  readonly words: string
}

export interface Finding {
  /** The words where nothing is wrong. */
  readonly words: string
  readonly measures: ReadonlyArray<Measure>
  readonly faults?: ReadonlyArray<Fault>
  /** For the next run, kept together with the result. */
  readonly note?: string
}

/** A check that the agent itself does, with its settings. */
export interface ProbeConfig {
  readonly name: string
  /** A check that hangs delays others of its lane, and none of another. */
  readonly lane: "network" | "host"
  /** As the configuration has them. */
  readonly settings: object
  /** May throw: then its status is unknown, with the error's words. */
  readonly run: (around: ProbeAround) => Promise<Finding>
}

/** Reads the settings of a probe and keeps them with what they are for. */
export const probe =
  <S extends object>(
    { name, lane }: Pick<ProbeConfig, "name" | "lane">,
    reader: Reader<S>,
    run: (settings: S, around: ProbeAround) => Promise<Finding>,
  ): Reader<ProbeConfig> =>
  (value, place) => {
    const settings = reader(value, place)
    return settings && { name, lane, settings, run: (around) => run(settings, around) }
  }

export const figure = (measure: Measure): Finding => ({ words: measure.words, measures: [measure] })

const finding =
  (status: Exclude<CheckStatus, "ok">) =>
  (words: string): Finding => ({ words, measures: [], faults: [{ status, words }] })

/** A finding that is critical without a figure. */
export const critical = finding("critical")

/** The finding of a probe that cannot find anything. */
export const unknownFinding = finding("unknown")

/** From bad to worse, as the plugins count. */
const BY_WEIGHT: ReadonlyArray<CheckStatus> = ["ok", "unknown", "warning", "critical"]

/** The status that weighs most; `ok` where there is none. */
export const worstOf = (all: ReadonlyArray<{ readonly status: CheckStatus }>): CheckStatus =>
  BY_WEIGHT.findLast((status) => all.some((one) => one.status === status)) ?? "ok"

const statusOf = ({ value, thresholds }: Measure): CheckStatus => {
  if (!Number.isFinite(value)) return "unknown"
  if (thresholds?.critical?.isBad(value)) return "critical"
  return thresholds?.warning?.isBad(value) ? "warning" : "ok"
}

/** The result of a finding by its thresholds, in the words and with the performance data of a plugin. */
export const judge = (name: string, { words, measures, faults = [] }: Finding) => {
  const crossed = measures.map((one) => ({ status: statusOf(one), words: one.words }))
  const bad = [...faults, ...crossed.filter(({ status }) => status !== "ok")]
  const worstFirst = bad.toSorted((a, b) => BY_WEIGHT.indexOf(b.status) - BY_WEIGHT.indexOf(a.status))
  const status = worstOf(bad)
  const said =
    bad.length === 0 ? words : [...new Set(worstFirst.flatMap((one) => one.words || []))].join(", ")
  // A bar would begin the performance data, and a line break more text.
  const lines = said.replaceAll("|", "/").split("\n")
  const shown = lines.flatMap((part) => part.trim() || []).join(" ")
  const line = `${name.toUpperCase()} ${status.toUpperCase()} - ${shown}`
  const data = measures.map(performanceOf).join(" ")
  return { status, exitCode: EXIT_CODES[status], output: data === "" ? line : `${line} | ${data}` }
}

const DIGITS = 1e6

const performanceOf = ({
  label,
  value,
  unit,
  thresholds: { warning, critical: crit } = {},
}: Measure): string => {
  const name = /^[A-Za-z0-9_./-]+$/.test(label) ? label : `'${label.replaceAll("'", "''")}'`
  // As plugins write a figure that they do not know.
  const figures = Number.isFinite(value) ? `${Math.round(value * DIGITS) / DIGITS}${unit}` : "U"
  return withoutTrailing(`${name}=${figures};${warning?.text ?? ""};${crit?.text ?? ""}`, ";")
}

export const absolutePath = text({ max: 4_096, form: /^\//, expected: "an absolute path" })
