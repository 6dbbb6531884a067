import { UNITS } from "@tocsin/contract/DurationText"
import { Duration, Option } from "effect"

const MILLIS: Readonly<Record<string, number>> = UNITS

/** A length of time in milliseconds; `undefined` if it is none, or not above 0. */
export const readMillis = (given: unknown): number | undefined => {
  const [, count, unit = ""] = /^(\d{1,9}(?:\.\d{1,3})?)(ms|s|m|h|d)$/.exec(String(given)) ?? []
  // The function checks its input at run time.
  const read = Option.getOrUndefined(Duration.fromInput(given as Duration.Input))
  const millis = count === undefined ? read && Duration.toMillis(read) : Number(count) * (MILLIS[unit] ?? 0)
  return millis !== undefined && Number.isFinite(millis) && millis > 0 ? millis : undefined
}
