import { type ConditionValue } from "@tocsin/contract/watches/ConditionValue"
import { type JudgedOptions, optionProblems, STATUS_RULE } from "@tocsin/contract/watches/optionProblems"
import { LONGEST, MOST } from "@tocsin/contract/watches/watchOptions"
import {
  duration,
  mapOf,
  oneOrMore,
  type Place,
  type Reader,
  record,
  refused,
  text,
} from "../config/Reader.ts"
import { MILLIS_PER_SECOND } from "./network.ts"
import type { Measure } from "./Probe.ts"
import { type Thresholds, thresholdsOf } from "./thresholds.ts"

const value: Reader<ConditionValue> = (given, place) => {
  if (given === null || typeof given === "boolean" || typeof given === "number") return given
  if (typeof given === "object") return refused(place, "must be a text, a number, true, false or null")
  return given === "" ? "" : text({ max: LONGEST.value })(given, place)
}

/** Absent values have complained already. */
const values: Reader<Readonly<Record<string, ConditionValue>>> = (given, place) => {
  const names = { max: MOST.values, form: /^/, expected: "any" }
  const read = mapOf(objectOfNull, names)(given, place)
  return read && Object.fromEntries([...read].map(([name, { of }]) => [name, of]))
}

/** A value may be null, which stays apart from one that was refused. */
const objectOfNull: Reader<{ readonly of: ConditionValue }> = (given, place) => {
  const of = value(given, place)
  return of === undefined ? undefined : { of }
}

const status: Reader<number | string> = (given, place) =>
  typeof given === "number" || typeof given === "string" ? given : refused(place, STATUS_RULE)

const searchedText = text({ max: LONGEST.line })

const conditionFields = {
  status: oneOrMore(status, MOST.ranges),
  header: values,
  text: searchedText,
  not_text: searchedText,
  json: values,
}

/** Conditions of a page. */
export const expectation = record({ ...conditionFields, warning: record(conditionFields) })

/** How long an answer may take, in milliseconds. */
const bound = duration({ min: "1ms", max: "1d" })
export const timeFields = { time: record({ warning: bound, critical: bound }) }

/** Judges options of a kind together, and its conditions. */
export const judgeOptions =
  (kind: string) =>
  (settings: JudgedOptions, place: Place): void => {
    for (const { message, path } of optionProblems(kind, settings))
      place.refuse(message, [...place.path, ...path])
  }

interface Timed extends Thresholds {
  readonly time?: { readonly warning?: number; readonly critical?: number } | undefined
}

const rangeOf = (millis: number | undefined): string | undefined =>
  millis === undefined ? undefined : String(millis / MILLIS_PER_SECOND)

/** The thresholds of the seconds that an answer takes. */
export const timeThresholds = ({ critical, time, warning }: Timed): Thresholds =>
  time === undefined ? { warning, critical } : thresholdsOf(rangeOf(time.warning), rangeOf(time.critical))

/** The seconds that an answer took. */
export const timeOf = (seconds: number, settings: Timed, words: string): Measure => ({
  label: "time",
  value: seconds,
  unit: "s",
  thresholds: timeThresholds(settings),
  words,
})
