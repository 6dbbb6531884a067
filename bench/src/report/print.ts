import { median } from "../statistics.ts"
import { short } from "./format.ts"
import type { CaseResult, Conditions, Figure, Sample, Series } from "./Results.ts"
import { table } from "./table.ts"

const of = (samples: ReadonlyArray<Sample>, read: (sample: Sample) => number | undefined): string => {
  const values = samples.flatMap((sample) => read(sample) ?? [])
  return values.length === 0 ? "–" : short(median(values))
}

const spread = (samples: ReadonlyArray<Sample>): string => {
  const rates = samples.map(({ perSecond }) => perSecond)
  return `${short(Math.min(...rates))} to ${short(Math.max(...rates))}`
}

const peaks = (peakMiB: Series["peakMiB"], name: string) => short(peakMiB[name])

const cpuOf = (samples: ReadonlyArray<Sample>, name: string) =>
  of(samples, ({ cpuMicros }) => cpuMicros[name])

const seriesRow = (one: CaseResult, { name, samples, peakMiB }: Series): ReadonlyArray<string> => [
  name === "subject" ? one.name : `  ${name}`,
  of(samples, ({ perSecond }) => perSecond),
  spread(samples),
  of(samples, ({ p50Millis }) => p50Millis),
  of(samples, ({ p99Millis }) => p99Millis),
  ...["server", "postgres", "load"].map((process) => cpuOf(samples, process)),
  ["server", "postgres", "load"].map((process) => peaks(peakMiB, process)).join(" / "),
]

/** Whether a figure keeps to its target. */
const isReached = ({ value, target }: Figure): boolean | undefined => {
  if (target === undefined) return undefined
  return target.bound === "at least" ? value >= target.value : value <= target.value
}

const verdict = (one: CaseResult, figure: Figure): string => {
  if (one.failure !== undefined) return "failed"
  const reached = isReached(figure)
  if (reached === undefined) return ""
  return reached ? "reached" : "missed"
}

const bound = ({ target }: Figure): string =>
  target === undefined ? "" : `${target.bound === "at least" ? "≥" : "≤"} ${target.value}`

/** The measurements as tables. */
export const measurements = (cases: ReadonlyArray<CaseResult>): string =>
  table([
    [
      "case",
      "a second",
      "spread",
      "p50 ms",
      "p99 ms",
      "server µs",
      "postgres µs",
      "load µs",
      "peak MiB (server / postgres / load)",
    ],
    ...cases.flatMap((one) => one.series.map((series) => seriesRow(one, series))),
  ])

/** The figures that have a target, and whether they reach it. */
export const targets = (cases: ReadonlyArray<CaseResult>): string =>
  table([
    ["case", "figure", "value", "by CPU", "target", "verdict"],
    ...cases.flatMap((one) =>
      one.figures.map((figure) => [
        one.name,
        figure.name,
        short(figure.value),
        figure.byCpu === undefined ? "" : short(figure.byCpu),
        bound(figure),
        verdict(one, figure),
      ]),
    ),
  ])

/** The machine and the conditions. */
export const describe = (conditions: Conditions): string =>
  [
    `commit ${conditions.commit}, Node.js ${conditions.node}, ${conditions.kernel}`,
    `${conditions.cores} × ${conditions.processor}, ${conditions.memoryMiB} MiB, load average ${short(conditions.loadAverage)}`,
    `data in ${conditions.dataFolder}: an append with fdatasync takes ${short(conditions.syncMillis)} ms`,
    ...(conditions.postgres === undefined
      ? []
      : [`PostgreSQL ${conditions.postgres}; its limit by ${conditions.upsertsBy ?? "pg"}`]),
    `${conditions.agents} agents, ${conditions.repeats} × ${conditions.seconds} s`,
  ].join("\n")

/** Why cases do not count, one line each. */
export const failures = (cases: ReadonlyArray<CaseResult>): ReadonlyArray<string> =>
  cases.flatMap(({ name, failure }) => (failure === undefined ? [] : [`${name} failed: ${failure}`]))

/** The result of a case in one line. */
export const summary = (one: CaseResult): string =>
  `${one.name}: ${one.failure === undefined ? one.figures.map((figure) => `${figure.name} ${short(figure.value)}`).join(", ") : "failed"}`
