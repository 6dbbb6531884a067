import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import { longer, merge, mergeSpans, spanOf } from "../../../src/features/numbers/Span.ts"
import type { Span, Spans } from "@tocsin/core/kernel/ports/NumberStorage"
import { packSpans, roundSpans, unpackSpans } from "../../../src/features/numbers/packSpans.ts"

interface Measured {
  readonly value: number
  /** In times of one span. */
  readonly at: number
}

const value = fc.oneof(
  fc.integer({ min: -1_000, max: 1_000 }),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.constantFrom(0, -0, 0.1, Number.MAX_VALUE, -Number.MAX_VALUE, Number.MIN_VALUE),
)
const PLACES = 24
const measured = fc
  .array(fc.record({ value, at: fc.double({ min: 0, max: PLACES, maxExcluded: true, noNaN: true }) }), {
    maxLength: 40,
  })
  // As readings are: no negative zero.
  .map((all) => all.map((one) => ({ ...one, value: one.value + 0 })).toSorted((a, b) => a.at - b.at))

/** The span of values, found without merging any. */
const slowSpan = (all: ReadonlyArray<Measured>, from: number, length: number): Span | undefined => {
  const within = all.filter(({ at }) => at >= from && at < from + length)
  const last = within.at(-1)
  if (last === undefined) return undefined
  const values = within.map((one) => one.value)
  return {
    count: values.length,
    least: Math.min(...values),
    most: Math.max(...values),
    mean: values.reduce((sum, one) => sum + one / values.length, 0),
    last: last.value,
    lastAt: (last.at - from) / length,
  }
}

const spansOf = (all: ReadonlyArray<Measured>): Spans => {
  const spans: Array<Span | undefined> = Array.from({ length: PLACES })
  for (const { at, value: one } of all) {
    const place = Math.floor(at)
    spans[place] = merge(spans[place], spanOf(one, at - place))
  }
  return spans
}

const assertNear = (spans: Spans, expected: Spans): void => {
  assert.strictEqual(spans.length, expected.length)
  for (const [place, span] of spans.entries()) {
    const other = expected[place]
    const { mean = 0, lastAt = 0, ...exact } = span ?? {}
    const { mean: otherMean = 0, lastAt: otherAt = 0, ...otherExact } = other ?? {}
    assert.deepStrictEqual(exact, otherExact)
    const largest = Math.max(Math.abs(span?.least ?? 0), Math.abs(span?.most ?? 0))
    assert.isAtMost(Math.abs(mean / 2 - otherMean / 2), largest * 1e-12 + Number.MIN_VALUE * 100)
    assert.closeTo(lastAt, otherAt, 1e-9)
  }
}

describe("spans of numbers", () => {
  it("are those of all values, for any number of servers and any longer time", () => {
    fc.assert(
      fc.property(
        measured,
        fc.integer({ min: 1, max: 30 }),
        fc.integer({ min: 1, max: 4 }),
        (all, many, servers) => {
          const parts = Array.from({ length: servers }, (_, server) =>
            spansOf(all.filter((__, index) => index % servers === server)),
          )
          const merged = parts.reduce(mergeSpans)
          const slow = Array.from({ length: PLACES }, (_, place) => slowSpan(all, place, 1))
          // The order of equal moments is not known between servers.
          const isOrdered = new Set(all.map(({ at }) => at)).size === all.length
          if (isOrdered || servers === 1) assertNear(merged, slow)
          const slowLonger = Array.from({ length: Math.ceil(PLACES / many) }, (_, place) =>
            slowSpan(all, place * many, many),
          )
          if (isOrdered || servers === 1) assertNear(longer(merged, many), slowLonger)
        },
      ),
    )
  })

  it("are read from bytes as they were, but for the precision of the last moment", () => {
    fc.assert(
      fc.property(measured, (all) => {
        const spans = spansOf(all)
        const read = unpackSpans(packSpans(spans))
        const last = spans.findLastIndex((span) => span !== undefined)
        assert.strictEqual(read.length, last + 1)
        for (const [place, span] of read.entries()) {
          assert.deepStrictEqual(
            span && { ...span, lastAt: 0 },
            spans[place] && { ...spans[place], lastAt: 0 },
          )
          assert.closeTo(span?.lastAt ?? 0, spans[place]?.lastAt ?? 0, 1 / 255)
        }
        assert.deepStrictEqual(unpackSpans(packSpans(read)), read)
      }),
    )
  })

  it("that are rounded keep seven digits, and stay within their bounds", () => {
    fc.assert(
      fc.property(measured, (all) => {
        const rounded = roundSpans(spansOf(all))
        assert.lengthOf(rounded, spansOf(all).length)
        for (const [place, span] of rounded.entries()) {
          const exact = spansOf(all)[place]
          if (span === undefined || exact === undefined) return
          for (const name of ["least", "most", "mean", "last"] as const)
            assert.isAtMost(Math.abs(span[name] - exact[name]), Math.abs(exact[name]) * 1e-7)
          assert.isTrue(span.least <= span.mean && span.mean <= span.most)
          assert.isTrue(span.least <= span.last && span.last <= span.most)
        }
      }),
    )
  })

  it("have any count", () => {
    for (const count of [1, 255, 256, 4_294_967_295]) {
      const spans = [
        { ...spanOf(1, 0), count },
        { ...spanOf(0.1, 1), count },
      ]
      assert.deepStrictEqual(unpackSpans(packSpans(spans)), spans)
    }
  })

  it("of damaged bytes are those before the damage", () => {
    const bytes = packSpans([spanOf(1, 0), undefined, spanOf(Math.PI, 1)])
    for (let length = 0; length < bytes.length; length++)
      assert.deepStrictEqual(unpackSpans(bytes.slice(0, length)), length < 7 ? [] : [spanOf(1, 0)])
  })

  it("of random values take 19 bytes an hour when rounded, and equal values 7", () => {
    const random = Array.from({ length: PLACES }, () =>
      [Math.random(), Math.random(), Math.random()]
        .map((one) => spanOf(one, 0))
        .reduce<Span | undefined>(merge, undefined),
    )
    assert.strictEqual(packSpans(roundSpans(random)).length, PLACES * 19)
    assert.strictEqual(packSpans(Array.from({ length: PLACES }, () => spanOf(7, 0.5))).length, PLACES * 7)
  })
})
