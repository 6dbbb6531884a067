import { withoutSequences } from "@tocsin/contract/headline"
import { utf8Length } from "@tocsin/contract/outputText"
import { type PerformanceNumber, readPerformance } from "@tocsin/contract/performanceData"
import type { CheckResultEvent } from "@tocsin/contract/Requests"
import { nameKey } from "./NumberPart.ts"

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
/** Of a longer name, so many stay at each end: with a hash of six digits between them, 64. */
const KEPT_AT_ENDS = 28

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

/** FNV-1a over UTF-16, as six digits: labels that differ have names that differ. */
const digitsOf = (label: string): string => {
  let hash = 0
  for (let index = 0; index < label.length; index += 1)
    hash = Math.imul(hash ^ label.charCodeAt(index), 0x01_00_01_93)
  return (hash >>> 0).toString(36).padStart(6, "0").slice(-6)
}

const nameOf = (label: string): string => {
  // Most labels are short, and need no splitting into characters.
  const characters = label.length <= MOST_NAME_CHARACTERS ? [] : Array.from(label)
  const isLong = characters.length > MOST_NAME_CHARACTERS
  const [first, last] = [characters.slice(0, KEPT_AT_ENDS), characters.slice(-KEPT_AT_ENDS)]
  const name = isLong ? `${first.join("")}~${digitsOf(label)}~${last.join("")}` : label
  return name.replaceAll(CONTROLS, " ")
}

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

const OF_CHECKS = "check_multi::check_multi::"

/** check_multi states the name of a check before the first of its labels only. */
const withPrefixes = (numbers: Numbers): Numbers => {
  if (numbers[0]?.label.startsWith(OF_CHECKS) !== true) return numbers
  let prefix = ""
  return numbers.map((number) => {
    if (number === undefined) return undefined
    const end = number.label.lastIndexOf("::")
    if (end < 0) return { ...number, label: prefix + number.label }
    prefix = number.label.slice(0, end + 2)
    return number
  })
}

const numbersIn = (output: string): Numbers => withPrefixes(dataIn(output).flatMap(readPerformance))

/** The numbers of the beginning of an output, without one that may be half: it stands where the output was cut. */
const numbersBefore = (cut: string): Numbers => {
  const numbers = numbersIn(cut)
  const end = cut.search(/[\r\n]/u)
  // The data of the first line end with it.
  const isInData = cut.includes("|", Math.max(0, end))
  return isInData ? numbers.slice(0, -1) : numbers
}

/** Version 2 of NRPE cuts an output so that it fits into its packet, and does not say so. */
const PACKET_BYTES = 1_023

const isPacket = (text: string): boolean =>
  text.length <= PACKET_BYTES && text.length > PACKET_BYTES / 4 && utf8Length(text) === PACKET_BYTES

/** The numbers of an output, without one that may be half. */
const wholeNumbersIn = (text: string, isCut: boolean): Numbers => {
  const output = withoutSequences(text)
  const marker = MARKER.exec(output)
  if (marker === null) return isCut || isPacket(text) ? numbersBefore(output) : numbersIn(output)
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
 * that is no number is skipped; of two numbers with one name and unit, the first counts. A duration of 0 counts only
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
    if (reading !== undefined && !found.has(nameKey(reading))) found.set(nameKey(reading), reading)
  }
  const stated = wholeNumbersIn(output, output_truncated === true)
  const isDuration = (number: PerformanceNumber | undefined) => number?.label === DURATION.name
  if (duration_ms > 0) add(readingOfDuration(duration_ms))
  for (const number of stated) if (duration_ms <= 0 || !isDuration(number)) add(number && readingOf(number))
  if (isZeroTime && !stated.some(isDuration)) add(readingOfDuration(duration_ms))
  return Array.from(found.values())
}
