import { PART_KINDS } from "./NumberPart.ts"
import type { PartKind, SeriesRef } from "../../kernel/ports/NumberStorage.ts"
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
  /** When its first value was taken. */
  readonly since: number
  readonly recording: Recording
  /** Whether its hour was over when it began: it leaves the memory once it is written. */
  readonly isOld: boolean
  /** Whether the recording has what this server stored of it before. */
  isWhole: boolean
  /** How often a span of it was opened, or a value added, since all of it was written. */
  changes: number
  /** How many of its values are stored. */
  written: number
  /** When it leaves the memory, written or not. */
  heldUntil: number
}

/** A value of a series; of a counter its rate, and none without an earlier, smaller value. */
export const valueOf = (
  series: Series,
  { isCounter, value }: Reading,
  { at, now }: { readonly at: number; readonly now: number },
): number | undefined => {
  if (!isCounter) return value
  // One after now was taken while the clock was ahead: it is none.
  const before = series.counted !== undefined && series.counted.at > now ? undefined : series.counted
  if (before !== undefined && at <= before.at) return undefined
  series.counted = { value, at }
  if (before === undefined || value < before.value || at - before.at > RATE_WITHIN) return undefined
  const rate = (value - before.value) / ((at - before.at) / 1_000)
  return Number.isFinite(rate) ? rate : undefined
}
