import { HOURS_KEPT, PART_KINDS, type PartKind, type SeriesRef } from "./NumberPart.ts"
import type { Reading } from "./readings.ts"
import type { Recording } from "./Recording.ts"

/** A counter's rate since an earlier value is none. */
export const RATE_WITHIN = PART_KINDS.hour.length

/** A series in the memory of a server. */
export interface Series extends SeriesRef {
  /** When it was last stated, which counts for the bound of its check. */
  statedAt: number
  counted: { readonly value: number; readonly at: number } | undefined
  readonly parts: Array<Part>
  /** The part that took the last value, which takes most of the next ones. */
  last: Part | undefined
}

/** An hour or a day of a series, which grows. */
export interface Part {
  readonly series: Series
  readonly kind: PartKind
  readonly start: number
  readonly recording: Recording
  /** Whether the recording has what this server stored of it before. */
  isWhole: boolean
  changes: number
  /** When it leaves the memory, written or not. */
  heldUntil: number
}

/** Whether a part is the hour of a moment that hours still take. */
export const isNow = (part: Part | undefined, at: number, now: number): part is Part =>
  part !== undefined &&
  part.kind === "hour" &&
  at >= part.start &&
  at < part.start + PART_KINDS.hour.length &&
  at >= now - HOURS_KEPT

/** A value of a series; of a counter its rate, and none without an earlier, smaller value. */
export const valueOf = (series: Series, { isCounter, value }: Reading, at: number): number | undefined => {
  if (!isCounter) return value
  const before = series.counted
  if (before !== undefined && at <= before.at) return undefined
  series.counted = { value, at }
  if (before === undefined || value < before.value || at - before.at > RATE_WITHIN) return undefined
  const rate = (value - before.value) / ((at - before.at) / 1_000)
  return Number.isFinite(rate) ? rate : undefined
}
