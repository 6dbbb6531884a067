import * as Instant from "@tocsin/contract/formats/Instant"
import { type NumbersAnswer, stepMillis } from "@tocsin/contract/numbers/Numbers"
import { numberText } from "@tocsin/contract/formats/numberText"
import { plainLine } from "@tocsin/contract/formats/plainLine"
import { displayWidth } from "effect/cli/CliOutput"
import { type TableStyle, timeText } from "../../output/texts.ts"

type Series = NumbersAnswer["series"][number]

const USUAL_COLUMNS = 100
const LEAST_CELLS = 10
const ROWS = 4
const GAP = " "
/** A cell of a row, from empty to full. */
const BLOCKS = " ▁▂▃▄▅▆▇█"
/** For files and other programs. */
const LETTERS = " .::##"

interface Scale {
  readonly from: number
  readonly until: number
  /** The length of a span. */
  readonly step: number
}

/** The mean of the spans in each cell; of none, nothing. */
const means = (
  { spans }: Series,
  { from, step, until }: Scale,
  cells: number,
): ReadonlyArray<number | undefined> => {
  const sums = Array.from({ length: cells }, () => ({ count: 0, sum: 0 }))
  for (const { at, count, mean } of spans) {
    const place = (moment: number) => ((moment - from) * cells) / (until - from)
    const start = Instant.toMillis(at)
    for (const cell of sums.slice(Math.max(0, Math.floor(place(start))), Math.ceil(place(start + step)))) {
      cell.count += count
      cell.sum += count * mean
    }
  }
  return sums.map(({ count, sum }) => (count === 0 ? undefined : sum / count))
}

/** The part of a row that a value fills, as a character. */
const glyph = (height: number, row: number, glyphs: string): string => {
  const part = Math.min(1, Math.max(0, height - row))
  return glyphs[Math.round(part * (glyphs.length - 1))] ?? ""
}

const drawSeries = (series: Series, scale: Scale, { columns }: TableStyle): ReadonlyArray<string> => {
  const { name, place, spans, unit } = series
  const title = place === undefined ? plainLine(name) : `${plainLine(name)} from ${place}`
  const last = spans.at(-1)
  if (last === undefined) return [title]
  const least = Math.min(...spans.map(({ min }) => min))
  const most = Math.max(...spans.map(({ max }) => max))
  const top = numberText(most, unit)
  const bottom = most === least ? "" : numberText(least, unit)
  const label = Math.max(displayWidth(top), displayWidth(bottom))
  const values = means(series, scale, Math.max(LEAST_CELLS, (columns ?? USUAL_COLUMNS) - label - GAP.length))
  const glyphs = columns === undefined ? LETTERS : BLOCKS
  // A value that never changes lies in the middle, and the least is seen too.
  const heights = values.map((value) =>
    value === undefined
      ? 0
      : most === least
        ? ROWS / 2
        : // Halves, because the difference of two numbers may be too large for one.
          Math.max(1 / 8, ((value / 2 - least / 2) / (most / 2 - least / 2)) * ROWS),
  )
  const rows = Array.from({ length: ROWS }, (_, index) => {
    const text = index === 0 ? top : index === ROWS - 1 ? bottom : ""
    const drawn = heights.map((height) => glyph(height, ROWS - 1 - index, glyphs)).join("")
    return `${" ".repeat(label - displayWidth(text))}${text}${GAP}${drawn}`.trimEnd()
  })
  return [`${title}  ${numberText(last.last, unit)}`, ...rows]
}

/** Draws each series over time, from its least to its most value. A gap stays empty. */
export const drawNumbers = (
  { series, step }: NumbersAnswer,
  { from, until }: { readonly from: Instant.Instant; readonly until: Instant.Instant },
  style: TableStyle,
): string => {
  const scale = { from: Instant.toMillis(from), until: Instant.toMillis(until), step: stepMillis[step] }
  const drawn = series.map((one) => `${drawSeries(one, scale, style).join("\n")}\n`)
  return `${drawn.join("\n")}\n${timeText(from)} to ${timeText(until)}\n`
}
