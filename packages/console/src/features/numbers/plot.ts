import { numberText } from "@tocsin/contract/formats/numberText"
import uPlot from "uplot"
import type { Chart } from "./series.ts"

/** The browser's name of a colour, which depends on the theme. */
const painter = (place: HTMLElement) => (colour: string, part: number) => {
  place.style.color = `color-mix(in srgb, var(--${colour}) ${part}%, transparent)`
  const { color } = getComputedStyle(place)
  place.style.color = ""
  return color
}

/** Places of values without neighbours, to which no line leads. */
const alone = (values: ReadonlyArray<number | null>) =>
  values.flatMap((_, index) =>
    [-1, 0, 1].every((by) => (typeof values[index + by] === "number") === (by === 0)) ? [index] : [],
  )

export interface Plot extends Chart {
  readonly span: { readonly start: number; readonly end: number }
  readonly ticks: ReadonlyArray<number>
  readonly range: readonly [low: number, high: number]
}

const MOST_BANDS = 3

/** The dashes of lines beyond the colours. */
const DASHES = [[], [6, 3], [2, 3], [9, 3, 2, 3]]

/** A unit that leaves room for its numbers on the axis; a longer one stands with the values above. */
const LONGEST_UNIT = 4

/** Steps of an axis of bytes that give round texts. */
const BYTE_STEPS = Array.from({ length: 60 }, (_, power) => 2 ** power)

/** Draws a chart into an element, which has its size and its colours; answers with how to remove it. */
export const drawPlot = (place: HTMLElement, { lines, times, span, ticks, range, unit }: Plot) => {
  const paint = painter(place)
  const { fontSize, fontFamily } = getComputedStyle(place)
  const rem = Number.parseFloat(getComputedStyle(document.documentElement).fontSize)
  const grid = { stroke: paint("line", 100), width: 1 }
  const edge = { points: { show: false } }
  const drawn = new uPlot(
    {
      width: place.clientWidth,
      height: place.clientHeight,
      ms: 1,
      padding: [rem / 2, 0, rem / 2, 0],
      legend: { show: false },
      cursor: { show: false },
      scales: { x: { time: false, range: [span.start, span.end] }, y: { range: [...range] } },
      axes: [
        { size: 0, splits: [...ticks], values: () => [], grid, ticks: { show: false } },
        {
          size: 4.5 * rem,
          font: `${fontSize} ${fontFamily}`,
          stroke: paint("soft", 100),
          space: 2 * rem,
          gap: rem / 2,
          values: (_, splits) =>
            splits.map((value) => numberText(value, unit.length > LONGEST_UNIT ? "" : unit)),
          grid,
          ticks: { show: false },
          ...(/^B(?:$|\/|ps)/.test(unit) && { incrs: BYTE_STEPS }),
        },
      ],
      series: [
        {},
        ...lines.flatMap(({ mean, colour, dashes }) => [
          {
            stroke: paint(colour, 100),
            width: 1.5,
            dash: DASHES[dashes % DASHES.length] ?? [],
            points: { show: true, size: 4, fill: paint(colour, 100), filter: alone(mean) },
          },
          edge,
          edge,
        ]),
      ],
      bands:
        lines.length > MOST_BANDS
          ? []
          : lines.map(({ colour }, index) => ({
              series: [index * 3 + 2, index * 3 + 3],
              fill: paint(colour, 16),
            })),
    },
    [[...times], ...lines.flatMap(({ mean, max, min }) => [[...mean], [...max], [...min]])],
    place,
  )
  return () => drawn.destroy()
}
