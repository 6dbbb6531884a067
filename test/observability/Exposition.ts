/** One value of a metric. */
export interface Sample {
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

/** A metric with its type, its help and its samples. */
export interface Family {
  readonly name: string
  readonly type: string
  readonly help: string
  readonly samples: ReadonlyArray<Sample>
}

class Malformed extends Error {
  constructor(line: string, why: string) {
    super(`${why}: ${line}`)
  }
}

const HELP = /^# HELP ([a-zA-Z_:][a-zA-Z0-9_:]*) (.+)$/
const TYPE = /^# TYPE ([a-zA-Z_:][a-zA-Z0-9_:]*) (counter|gauge|histogram|summary)$/
const SAMPLE = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (NaN|[+-]Inf|[+-]?\d+(?:\.\d+)?(?:e[+-]?\d+)?)$/
const LABEL = /([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)"(,|$)/y

const labelsOf = (text: string, line: string): Readonly<Record<string, string>> => {
  const labels: Record<string, string> = {}
  LABEL.lastIndex = 0
  while (LABEL.lastIndex < text.length) {
    const [, name = "", value = ""] = LABEL.exec(text) ?? []
    if (name === "") throw new Malformed(line, "a label that is none")
    if (name in labels) throw new Malformed(line, "a label twice")
    labels[name] = value.replaceAll(/\\(["\\n])/g, (_, one: string) => (one === "n" ? "\n" : one))
  }
  return labels
}

const numberOf = (text: string): number => {
  if (text === "+Inf") return Number.POSITIVE_INFINITY
  return text === "-Inf" ? Number.NEGATIVE_INFINITY : Number(text)
}

const sampleOf = (line: string): Sample => {
  const [, name, labels = "", value] = SAMPLE.exec(line) ?? []
  if (name === undefined || value === undefined) throw new Malformed(line, "neither a comment nor a value")
  return { name, labels: labelsOf(labels, line), value: numberOf(value) }
}

const SUFFIXES: Readonly<Record<string, ReadonlyArray<string>>> = { histogram: ["_bucket", "_sum", "_count"] }

const namesOf = ({ name, type }: Pick<Family, "name" | "type">): ReadonlyArray<string> =>
  (SUFFIXES[type] ?? [""]).map((suffix) => `${name}${suffix}`)

/** Reads Prometheus' text format 0.0.4. Refuses any text that a scraper would refuse or misread. */
export const parseExposition = (text: string): ReadonlyMap<string, Family> => {
  if (!text.endsWith("\n")) throw new Malformed(text.slice(-80), "the last line does not end")
  const families = new Map<string, Family & { readonly samples: Array<Sample> }>()
  const seen = new Set<string>()
  let help: RegExpExecArray | null = null
  let present: (Family & { readonly samples: Array<Sample> }) | undefined
  for (const line of text.slice(0, -1).split("\n")) {
    if (line.startsWith("# HELP")) {
      help = HELP.exec(line)
      if (help === null) throw new Malformed(line, "a HELP without a text")
      continue
    }
    if (line.startsWith("#")) {
      const [, name = "", type = ""] = TYPE.exec(line) ?? []
      if (name === "" || help?.[1] !== name)
        throw new Malformed(line, "a TYPE that follows no HELP of its own")
      if (families.has(name)) throw new Malformed(line, "a metric twice")
      present = { name, type, help: help[2] ?? "", samples: [] }
      families.set(name, present)
      continue
    }
    const sample = sampleOf(line)
    if (present === undefined || !namesOf(present).includes(sample.name))
      throw new Malformed(line, "a value of no metric")
    const series = `${sample.name}${JSON.stringify(Object.entries(sample.labels).toSorted())}`
    if (seen.has(series)) throw new Malformed(line, "a value twice")
    seen.add(series)
    present.samples.push(sample)
  }
  for (const family of families.values()) checkFamily(family)
  return families
}

const checkFamily = (family: Family): void => {
  const { name, samples, type } = family
  if (samples.length === 0) throw new Malformed(name, "a metric without a value")
  if ((type === "counter") !== name.endsWith("_total")) throw new Malformed(name, "_total is for counters")
  if (type === "counter" && samples.some(({ value }) => !(value >= 0))) throw new Malformed(name, "below 0")
  if (type === "histogram") checkHistogram(family)
}

const checkHistogram = ({ name, samples }: Family): void => {
  const groups = new Map<string, Array<Sample>>()
  for (const sample of samples) {
    const { le: _, ...labels } = sample.labels
    const group = JSON.stringify(labels)
    groups.set(group, [...(groups.get(group) ?? []), sample])
  }
  for (const [group, members] of groups) {
    const buckets = members.filter((sample) => sample.name.endsWith("_bucket"))
    const bounds = buckets.map(({ labels }) => numberOf(labels["le"] ?? ""))
    const isAscending = (values: ReadonlyArray<number>, mayRest: boolean) =>
      values.every((value, index) => {
        const former = values[index - 1] ?? Number.NEGATIVE_INFINITY
        return mayRest ? value >= former : value > former
      })
    if (!isAscending(bounds, false) || bounds.at(-1) !== Number.POSITIVE_INFINITY)
      throw new Malformed(`${name}${group}`, "buckets that do not ascend to infinity")
    if (
      !isAscending(
        buckets.map(({ value }) => value),
        true,
      )
    )
      throw new Malformed(`${name}${group}`, "buckets that are not cumulative")
    const count = members.find((sample) => sample.name === `${name}_count`)?.value
    if (count !== buckets.at(-1)?.value) throw new Malformed(`${name}${group}`, "a count that is another")
    if (!members.some((sample) => sample.name === `${name}_sum`))
      throw new Malformed(`${name}${group}`, "no sum")
  }
}

/** The value of one series; of several that match, their sum. */
export const valueOf = (
  families: ReadonlyMap<string, Family>,
  name: string,
  labels: Readonly<Record<string, string>> = {},
): number | undefined => {
  const base = name.replace(/_(bucket|sum|count)$/, "")
  const samples = (families.get(name) ?? families.get(base))?.samples ?? []
  const matching = samples.filter(
    (sample) =>
      sample.name === name &&
      Object.entries(labels).every(([label, value]) => sample.labels[label] === value),
  )
  return matching.length === 0 ? undefined : matching.reduce((sum, { value }) => sum + value, 0)
}
