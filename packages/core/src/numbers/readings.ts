import { withoutSequences } from "@tocsin/contract/headline"
import { type PerformanceNumber, readPerformance } from "@tocsin/contract/performanceData"
import type { CheckResultEvent } from "@tocsin/contract/Requests"

/** A number that one result states, in the unit that Tocsin keeps (docs/rules.md#numbers). */
export interface Reading {
  readonly name: string
  readonly unit: string
  readonly value: number
  /** Whether the value counts up: its rate is kept. */
  readonly isCounter: boolean
  /** Ranges and bounds as texts, in the same unit. */
  readonly warn: string | undefined
  readonly crit: string | undefined
  readonly min: string | undefined
  readonly max: string | undefined
}

/** The series of how long a check ran. */
export const DURATION = { name: "duration", unit: "s" }
export const MILLIS_PER_SECOND = 1_000
const MOST_NAME_CHARACTERS = 64

interface KeptUnit {
  readonly unit: string
  readonly convert: (value: number) => number
}

const seconds = (inOne: number): KeptUnit => ({ unit: "s", convert: (value) => value / inOne })
const KIBI = 1_024
const bytes = (power: number): KeptUnit => ({ unit: "B", convert: (value) => value * KIBI ** power })

const KEPT: Readonly<Record<string, KeptUnit>> = {
  s: seconds(1),
  ms: seconds(1e3),
  us: seconds(1e6),
  ns: seconds(1e9),
  B: bytes(0),
  kB: bytes(1),
  ...Object.fromEntries(
    [..."KMGTP"].flatMap((prefix, index) => [
      [`${prefix}B`, bytes(index + 1)],
      [`${prefix}iB`, bytes(index + 1)],
    ]),
  ),
  c: { unit: "/s", convert: (value) => value },
}

const CONTROLS = /\p{Cc}/gu

const nameOf = (label: string): string =>
  // Most labels are short, and need no splitting into characters.
  (label.length <= MOST_NAME_CHARACTERS
    ? label
    : Array.from(label).slice(0, MOST_NAME_CHARACTERS).join("")
  ).replaceAll(CONTROLS, " ")

const NUMBERS = /[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?/gu

const finite = (text: string | undefined) => (text?.includes("Infinity") ? undefined : text)

const readingOf = ({ label, value, unit, ...bounds }: PerformanceNumber): Reading | undefined => {
  const kept = Object.hasOwn(KEPT, unit) ? KEPT[unit] : undefined
  const converted = kept === undefined ? value : kept.convert(value)
  if (!Number.isFinite(converted)) return undefined
  const shown = (text: string | undefined) =>
    kept === undefined || kept.convert(1) === 1
      ? text
      : finite(text?.replaceAll(NUMBERS, (number) => String(kept.convert(Number(number)))))
  return {
    name: nameOf(label),
    unit: kept?.unit ?? unit,
    // No negative zero.
    value: converted + 0,
    isCounter: unit === "c",
    warn: shown(bounds.warn),
    crit: shown(bounds.crit),
    min: shown(bounds.min),
    max: shown(bounds.max),
  }
}

/** Stands for the bytes that were cut from an output, between what is left of it. */
const MARKER = /\n?\.\.\.\[truncated \d+ bytes\]\n?/u

/** Performance data: what follows the first bar of the first line, and the first bar of the other lines. */
const dataIn = (output: string): ReadonlyArray<string> => {
  const end = output.search(/[\r\n]/u)
  const parts = end < 0 ? [output] : [output.slice(0, end), output.slice(end)]
  return parts.flatMap((part) => (part.includes("|") ? [part.slice(part.indexOf("|") + 1)] : []))
}

type Numbers = ReadonlyArray<PerformanceNumber | undefined>

const numbersIn = (output: string): Numbers => dataIn(output).flatMap(readPerformance)

/** The numbers of the beginning of an output, without one that may be half: it stands where the output was cut. */
const numbersBefore = (cut: string): Numbers => {
  const numbers = numbersIn(cut)
  const end = cut.search(/[\r\n]/u)
  // The data of the first line end with it.
  const isInData = cut.includes("|", Math.max(0, end))
  return isInData ? numbers.slice(0, -1) : numbers
}

/** The numbers of an output, without one that may be half. */
const wholeNumbersIn = (text: string, isCut: boolean): Numbers => {
  const output = withoutSequences(text)
  const marker = MARKER.exec(output)
  if (marker === null) return isCut ? numbersBefore(output) : numbersIn(output)
  const rest = output.slice(marker.index + marker[0].length)
  // The kept end begins within a line, and perhaps within a number.
  const later = rest.includes("|") ? rest.slice(rest.search(/[\s|]|$/u)) : rest
  return [...numbersBefore(output.slice(0, marker.index)), ...numbersIn(`\n${later}`)]
}

const readingOfDuration = (millis: number): Reading => ({
  ...DURATION,
  value: millis / MILLIS_PER_SECOND,
  isCounter: false,
  warn: undefined,
  crit: undefined,
  min: undefined,
  max: undefined,
})

/**
 * The numbers that a result states: how long its check ran, and the performance data of its output. A text
 * that is no number is skipped; of two numbers with one name, the first counts. A duration of 0 counts only
 * where `isZeroTime`, and where the output states none.
 */
export const readingsOf = (
  {
    duration_ms = 0,
    output = "",
    output_truncated,
  }: Partial<Pick<CheckResultEvent, "duration_ms" | "output" | "output_truncated">>,
  isZeroTime = false,
): ReadonlyArray<Reading> => {
  // Most outputs have no bar.
  if (!output.includes("|")) return duration_ms > 0 || isZeroTime ? [readingOfDuration(duration_ms)] : []
  const found = new Map<string, Reading>()
  const add = (reading: Reading | undefined) => {
    if (reading !== undefined && !found.has(reading.name)) found.set(reading.name, reading)
  }
  if (duration_ms > 0) add(readingOfDuration(duration_ms))
  for (const number of wholeNumbersIn(output, output_truncated === true)) add(number && readingOf(number))
  if (isZeroTime) add(readingOfDuration(duration_ms))
  return Array.from(found.values())
}
