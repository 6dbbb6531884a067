import type { Span, Spans } from "../../kernel/ports/NumberStorage.ts"

export const spanOf = (value: number, lastAt: number): Span => ({
  count: 1,
  least: value,
  most: value,
  mean: value,
  last: value,
  lastAt,
})

/** The span of all values of two spans of one time. Where both end at one moment, the second has the last. */
export const merge = (a: Span | undefined, b: Span | undefined): Span | undefined => {
  if (a === undefined || b === undefined) return a ?? b
  const count = a.count + b.count
  const least = Math.min(a.least, b.least)
  const most = Math.max(a.most, b.most)
  const mean = a.mean * (a.count / count) + b.mean * (b.count / count)
  const { last, lastAt } = b.lastAt >= a.lastAt ? b : a
  // Rounding must not move the mean of equal values.
  return { count, least, most, mean: Math.min(most, Math.max(least, mean)), last, lastAt }
}

/** Merges spans of the same times, as several servers measured them. */
export const mergeSpans = (a: Spans, b: Spans): Spans =>
  Array.from({ length: Math.max(a.length, b.length) }, (_, index) => merge(a[index], b[index]))

/** The spans of times that are `many` times as long. */
export const longer = (spans: Spans, many: number): Spans =>
  Array.from({ length: Math.ceil(spans.length / many) }, (_, index) => {
    const first = index * many
    return spans
      .slice(first, first + many)
      .map((span, place) => span && { ...span, lastAt: (place + span.lastAt) / many })
      .reduce(merge, undefined)
  })
