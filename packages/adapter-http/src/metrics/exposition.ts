import type {
  Distribution,
  MetricDefinition,
  MetricFamily,
  Reading,
} from "@tocsin/core/engine/metrics/Metric"

/** The content type of the text (Prometheus, text format 0.0.4). */
export const EXPOSITION_TYPE = "text/plain; version=0.0.4; charset=utf-8"

const escapeHelp = (text: string): string => text.replaceAll("\\", "\\\\").replaceAll("\n", "\\n")
const escapeLabel = (text: string): string => escapeHelp(text).replaceAll('"', '\\"')

const numberText = (value: number): string => {
  if (value === Number.POSITIVE_INFINITY) return "+Inf"
  return value === Number.NEGATIVE_INFINITY ? "-Inf" : String(value)
}

type Label = readonly [name: string, value: string]

const labelsText = (labels: ReadonlyArray<Label>): string =>
  labels.length === 0 ? "" : `{${labels.map(([name, value]) => `${name}="${escapeLabel(value)}"`).join()}}`

const line = (name: string, labels: ReadonlyArray<Label>, value: number): string =>
  `${name}${labelsText(labels)} ${numberText(value)}`

const distributionLines = (
  { name, buckets }: MetricDefinition,
  labels: ReadonlyArray<Label>,
  { counts, sum }: Distribution,
): ReadonlyArray<string> => {
  let total = 0
  const lines = counts.map((count, index) => {
    total += count
    const bound = buckets[index] ?? Number.POSITIVE_INFINITY
    return line(`${name}_bucket`, [...labels, ["le", numberText(bound)]], total)
  })
  return [...lines, line(`${name}_sum`, labels, sum), line(`${name}_count`, labels, total)]
}

const readingLines = (definition: MetricDefinition, reading: Reading): ReadonlyArray<string> => {
  const labels = definition.labels.map((name, index): Label => [name, reading.labels[index] ?? ""])
  return typeof reading.value === "number"
    ? [line(definition.name, labels, reading.value)]
    : distributionLines(definition, labels, reading.value)
}

/**
 * Metrics as text. Families of one definition become one; families without a reading are left out.
 */
export const exposition = (families: ReadonlyArray<MetricFamily>): string => {
  const readings = new Map<MetricDefinition, Array<Reading>>()
  for (const family of families) {
    if (family.readings.length === 0) continue
    const known = readings.get(family.definition)
    if (known === undefined) readings.set(family.definition, Array.from(family.readings))
    else for (const reading of family.readings) known.push(reading)
  }
  const lines = Array.from(readings, ([definition, all]) => [
    `# HELP ${definition.name} ${escapeHelp(definition.help)}`,
    `# TYPE ${definition.name} ${definition.type}`,
    ...all.flatMap((reading) => readingLines(definition, reading)),
  ])
  return lines
    .flat()
    .map((text) => `${text}\n`)
    .join("")
}
