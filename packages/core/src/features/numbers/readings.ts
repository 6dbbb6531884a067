import { withoutSequences } from "@tocsin/contract/formats/headline"
import { utf8Length } from "@tocsin/contract/formats/outputText"
import {
  dataIn,
  OF_CHECKS,
  type PerformanceNumber,
  readPerformance,
} from "@tocsin/contract/formats/performanceData"
import type { CheckResultEvent } from "@tocsin/contract/v1/Requests"
import { nameKey } from "./NumberPart.ts"

/** A number that one result states, in the unit that Tocsin keeps (docs/rules.md#numbers). */
export interface Reading {
  readonly name: string
  readonly unit: string
  readonly value: number
  /** Whether the value counts up: its rate is kept. */
  readonly isCounter: boolean
  /** As its output states it; not the duration of a result. */
  readonly stated: PerformanceNumber | undefined
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

/** Dividing adds digits behind those of the value. */
const DIGITS = 15
const seconds = (inOne: number): KeptUnit => ({
  unit: "s",
  convert: inOne === 1 ? (value) => value : (value) => Number((value / inOne).toPrecision(DIGITS)),
})
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

const keptUnit = (unit: string): KeptUnit | undefined => (Object.hasOwn(KEPT, unit) ? KEPT[unit] : undefined)

const readingOf = (stated: PerformanceNumber): Reading | undefined => {
  const { label, unit, value } = stated
  const kept = keptUnit(unit)
  const converted = kept === undefined ? value : kept.convert(value)
  if (!Number.isFinite(converted)) return undefined
  // No negative zero.
  return {
    name: nameOf(label),
    unit: kept?.unit ?? unit,
    value: converted + 0,
    isCounter: unit === "c",
    stated,
  }
}

/** The ranges and bounds of a reading as texts, in its unit. Those of a counter are of its count, and not of its rate. */
export const boundsOf = ({
  stated,
  isCounter,
}: Reading): Readonly<Record<"crit" | "max" | "min" | "warn", string | undefined>> => {
  const { crit, max, min, unit = "", warn }: Partial<PerformanceNumber> = isCounter ? {} : (stated ?? {})
  const kept = keptUnit(unit)
  const shown = (text: string | undefined) =>
    kept === undefined || kept.convert(1) === 1
      ? text
      : finite(text?.replaceAll(NUMBERS, (number) => String(kept.convert(Number(number)))))
  return { crit: shown(crit), max: shown(max), min: shown(min), warn: shown(warn) }
}

/** Whether a reading says when it is bad, or is how long the check ran. */
export const hasBound = ({ stated }: Reading): boolean =>
  stated === undefined || stated.warn !== undefined || stated.crit !== undefined

/** Stands for the bytes that were cut from an output, between what is left of it. */
const MARKER = /\n?\.\.\.\[truncated \d+ bytes\]\n?/u

type Numbers = ReadonlyArray<PerformanceNumber | undefined>

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

const LOSS = /^(.*)pl$/u
const TIME_OF_PACKETS = /^(.*)rt(?:a|max|min)$/u

/** check_icmp 2.3 states times of 0 where all packets were lost: nothing was measured. */
const withoutLost = (numbers: Numbers): Numbers => {
  const lost = new Set(
    numbers.flatMap((one) =>
      one?.unit === "%" && one.value === 100 ? (LOSS.exec(one.label)?.[1] ?? []) : [],
    ),
  )
  if (lost.size === 0) return numbers
  return numbers.map((one) =>
    one?.value === 0 && lost.has(TIME_OF_PACKETS.exec(one.label)?.[1] ?? "\n") ? undefined : one,
  )
}

const numbersIn = (output: string): Numbers =>
  withoutLost(withPrefixes(dataIn(output).flatMap(readPerformance)))

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
  stated: undefined,
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
