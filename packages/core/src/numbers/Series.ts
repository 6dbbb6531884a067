import { PART_KINDS, type PartKind, type SeriesRef } from "./NumberPart.ts"
import type { Reading } from "./readings.ts"
import type { Recording } from "./Recording.ts"

/** A counter's rate since an earlier value is none. */
export const RATE_WITHIN = PART_KINDS.hour.length

/** A series in the memory of a server. */
export interface Series {
  readonly ref: SeriesRef
  /** Its row among the open spans. */
  readonly row: number
  counted: { readonly value: number; readonly at: number } | undefined
  readonly parts: Array<Part>
  /** The part that its open span is in. */
  open: Part | undefined
}

/** An hour or a day of a series, which grows. */
export interface Part {
  readonly series: Series
  readonly kind: PartKind
  readonly start: number
  readonly recording: Recording
  /** Whether the recording has what this server stored of it before. */
  isWhole: boolean
  /** How often a span of it was opened, or a value added, since all of it was written. */
  changes: number
  /** When it leaves the memory, written or not. */
  heldUntil: number
}

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
