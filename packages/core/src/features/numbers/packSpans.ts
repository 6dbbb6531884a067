import type { Span, Spans } from "../../kernel/ports/NumberStorage.ts"

// A row of a storage has, for each span: its place and how its values are kept, when its last value came, its
// count (in one byte where that suffices), and the values: once where they are equal, in 4 bytes where that is exact.
const HEAD_BYTES = 2
const FEW_BYTES = 1
const COUNT_BYTES = 4
const NARROW_BYTES = 4
const WIDE_BYTES = 8
const VALUES = 4
/** Places are below this; the bits above say how the count and the values are kept. */
const PLACES = 32
const IS_FEW = 32
const IS_WIDE = 64
const IS_EQUAL = 128
const LAST_AT_STEPS = 255

const isNarrow = (value: number): boolean => Math.fround(value) === value

/** With seven digits; too large or too small a value for that stays. */
const rounded = (value: number): number => {
  const near = Math.fround(value)
  return Math.abs(near - value) <= Math.abs(value) * 2 ** -24 ? near : value
}

/** Spans whose values have seven digits: enough to draw them, in half of the bytes. */
export const roundSpans = (spans: Spans): Spans =>
  spans.map(
    (span) =>
      span && {
        ...span,
        least: rounded(span.least),
        most: rounded(span.most),
        mean: rounded(span.mean),
        last: rounded(span.last),
      },
  )

/** At most 32 spans as bytes; {@link unpackSpans} reads them. The moment of the last value loses precision. */
export const packSpans = (spans: Spans): Uint8Array => {
  const view = new DataView(new ArrayBuffer(spans.length * (HEAD_BYTES + COUNT_BYTES + VALUES * WIDE_BYTES)))
  let at = 0
  for (const [place, span] of spans.entries()) {
    if (span === undefined) continue
    const { count, last, lastAt, least, mean, most } = span
    const isEqual = least === most && mean === last && least === last
    const values = isEqual ? [last] : [least, most, mean, last]
    const isWide = !values.every(isNarrow)
    const isFew = count < 256
    view.setUint8(at, place + (isFew ? IS_FEW : 0) + (isWide ? IS_WIDE : 0) + (isEqual ? IS_EQUAL : 0))
    view.setUint8(at + 1, Math.round(lastAt * LAST_AT_STEPS))
    at += HEAD_BYTES
    if (isFew) view.setUint8(at, count)
    else view.setUint32(at, count)
    at += isFew ? FEW_BYTES : COUNT_BYTES
    for (const value of values) {
      if (isWide) view.setFloat64(at, value)
      else view.setFloat32(at, value)
      at += isWide ? WIDE_BYTES : NARROW_BYTES
    }
  }
  return new Uint8Array(view.buffer.slice(0, at))
}

/** The spans of a row; of damaged bytes, those before the damage. */
export const unpackSpans = (bytes: Uint8Array): Spans => {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const spans: Array<Span | undefined> = []
  for (let at = 0; at + HEAD_BYTES <= bytes.length;) {
    const head = view.getUint8(at)
    const size = (head & IS_WIDE) === 0 ? NARROW_BYTES : WIDE_BYTES
    const many = (head & IS_EQUAL) === 0 ? VALUES : 1
    const isFew = (head & IS_FEW) !== 0
    const first = at + HEAD_BYTES + (isFew ? FEW_BYTES : COUNT_BYTES)
    const end = first + many * size
    if (end > bytes.length) break
    const value = (index: number): number =>
      size === NARROW_BYTES ? view.getFloat32(first + index * size) : view.getFloat64(first + index * size)
    const [least, most, mean, last] =
      many === 1 ? [value(0), value(0), value(0), value(0)] : [value(0), value(1), value(2), value(3)]
    const place = head % PLACES
    while (spans.length <= place) spans.push(undefined)
    spans[place] = {
      count: isFew ? view.getUint8(at + HEAD_BYTES) : view.getUint32(at + HEAD_BYTES),
      least,
      most,
      mean,
      last,
      lastAt: view.getUint8(at + 1) / LAST_AT_STEPS,
    }
    at = end
  }
  return spans
}
