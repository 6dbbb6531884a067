import * as Instant from "@tocsin/contract/formats/Instant"
import { type NumbersAnswer, type NumberStep, stepMillis } from "@tocsin/contract/numbers/Numbers"
import { Effect } from "effect"
import type { CheckRef } from "../../kernel/model/CheckRef.ts"
import { namedBy, nameKey, PART_KINDS, startOf } from "./NumberPart.ts"
import { longer, mergeSpans } from "./Span.ts"
import type {
  NumberPart,
  NumberStorage,
  PartKind,
  PartsQuery,
  Span,
  Spans,
} from "../../kernel/ports/NumberStorage.ts"
import type { StorageError } from "../../kernel/ports/Storage.ts"

const DAY = stepMillis["1d"]

/** For each step, the rows that have it, and how many of their spans it takes. */
const STEPS = {
  "5m": { kinds: ["hour"], many: 1 },
  "1h": { kinds: ["day", "late"], many: 1 },
  "1d": { kinds: ["day", "late"], many: DAY / stepMillis["1h"] },
} as const satisfies Record<NumberStep, { kinds: readonly [PartKind, ...Array<PartKind>]; many: number }>

/** Spans of one length by their start, of all parts of a series. */
export const timeline = (parts: ReadonlyArray<NumberPart>, step: NumberStep): ReadonlyMap<number, Span> => {
  const merged = new Map<number, Spans>()
  for (const { spans, start } of parts) merged.set(start, mergeSpans(merged.get(start) ?? [], spans))
  const { many } = STEPS[step]
  return new Map(
    Array.from(merged)
      .toSorted(([a], [b]) => a - b)
      .flatMap(([start, spans]) => {
        const all = many === 1 ? spans : longer(whole(spans, many), many)
        return all.flatMap((span, place) =>
          span === undefined ? [] : [[start + place * stepMillis[step], span] as const],
        )
      }),
  )
}

const whole = (spans: Spans, length: number): Spans => Array.from({ length }, (_, place) => spans[place])

const byName = ([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number => (a < b ? -1 : 1)

/** Parts that are read and merged in one turn of the event loop: some milliseconds, also where two servers have some. */
const PIECE = 200

/** Reads parts of kinds of one length in the order of their starts, in pieces between which other work goes on. */
export const eachPiece = Effect.fnUntraced(function* (
  numbers: NumberStorage<StorageError>,
  { kinds, to, ...query }: PartsQuery & { readonly kinds: readonly [PartKind, ...Array<PartKind>] },
  use: (parts: ReadonlyArray<NumberPart>) => void,
) {
  const { length } = PART_KINDS[kinds[0]]
  let many = 4
  let from = startOf(kinds[0], query.from)
  while (from < to) {
    const end = Math.min(to, from + many * length)
    const parts = yield* numbers.parts({ ...query, kinds, from, to: end })
    use(parts)
    from = end
    const fitting = Math.floor((many * PIECE) / Math.max(1, parts.length))
    many = Math.max(1, Math.min(fitting, 4 * many))
    yield* Effect.yieldNow
  }
})

/** A span as it is shown. Hours keep seven digits: others would be noise. */
const shownSpan = ({ count, last, least, mean, most }: Span, shown = (value: number) => value) => ({
  count,
  min: shown(least),
  max: shown(most),
  mean: shown(mean),
  last: shown(last),
})
export const shownHour = (span: Span) => shownSpan(span, (value) => Number(value.toPrecision(7)))

/** Series of one check over a time. */
export interface Asked {
  readonly check: CheckRef
  readonly name: string | undefined
  readonly first: number
  readonly step: NumberStep
  readonly to: number
}

export type ReadSeries = NumbersAnswer["series"][number]

/** Reads the spans of the series of one check, in the order of time. */
export const readSpans = Effect.fnUntraced(function* (
  numbers: NumberStorage<StorageError>,
  { check, first, name, step, to }: Asked,
) {
  const { kinds } = STEPS[step]
  const shown = step === "5m" ? shownSpan : shownHour
  const series = new Map<string, Array<ReadSeries["spans"][number]>>()
  yield* eachPiece(numbers, { ...check, name, kinds, from: first, to }, (parts) => {
    for (const [key, all] of Map.groupBy(parts, nameKey)) {
      const spans = series.get(key) ?? []
      series.set(key, spans)
      for (const [at, span] of timeline(all, step))
        if (at >= first && at < to) spans.push({ at: Instant.fromMillis(at), ...shown(span) })
    }
  })
  const inOrder = Array.from(series).toSorted(byName)
  return inOrder.map(([key, spans]): ReadSeries => ({ ...namedBy(key), spans }))
})
