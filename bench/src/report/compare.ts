import { short } from "./format.ts"
import type { Results } from "./Results.ts"
import { table } from "./table.ts"

const change = (before: number | undefined, after: number | undefined): string =>
  before === undefined || after === undefined ? "" : `× ${short(after / before)}`

/**
 * The figures of two runs side by side. Ratios can be compared between runs; rates of a busy
 * machine cannot.
 */
export const comparison = (before: Results, after: Results): string => {
  const earlier = new Map(
    before.cases.flatMap((one) =>
      one.figures.map((figure) => [`${one.name} ${figure.name}`, figure] as const),
    ),
  )
  const rows = after.cases.flatMap((one) =>
    one.figures.map((figure) => {
      const old = earlier.get(`${one.name} ${figure.name}`)
      return [
        one.name,
        figure.name,
        short(old?.value),
        short(figure.value),
        change(old?.value, figure.value),
        short(old?.byCpu),
        short(figure.byCpu),
        change(old?.byCpu, figure.byCpu),
      ]
    }),
  )
  const heading = ["case", "figure", "before", "now", "change", "CPU before", "CPU now", "CPU change"]
  return `before: ${before.conditions.commit}; now: ${after.conditions.commit}\n\n${table([heading, ...rows])}`
}
