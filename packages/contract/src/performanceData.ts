/** A number that a plugin measured, as it wrote it. */
export interface PerformanceNumber {
  readonly label: string
  readonly value: number
  readonly unit: string
  /** Ranges, such as `10:20`, `~:5` and `@1:2`. */
  readonly warn: string | undefined
  readonly crit: string | undefined
  readonly min: string | undefined
  readonly max: string | undefined
}

const NUMBER = String.raw`[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?`
const RANGE = String.raw`@?(?:(?:~|${NUMBER})?:(?:${NUMBER})?|${NUMBER})`
const LABEL = String.raw`(?:'((?:[^']|'')+)'|([^\s'=|]+))`
/** Each further field needs the bar before it. */
const FIELDS = [RANGE, RANGE, NUMBER, NUMBER].reduceRight((rest, field) => `(?:;(${field})?${rest})?`, "")
const UNIT = String.raw`([^\s\d;,'"=|]{0,8})`
const ONE = new RegExp(String.raw`\s*${LABEL}=(${NUMBER})${UNIT}${FIELDS}(?!\S)`, "yu")
const OTHER = /\s*\S+/y

/**
 * The performance data that follow a `|`, by the grammar of the Monitoring Plugins' guidelines:
 * `'label'=value[unit];warn;crit;min;max`. `undefined` stands for what is no number: another text, a decimal
 * comma, a value that is not finite, or `U`.
 */
export const readPerformance = (text: string): ReadonlyArray<PerformanceNumber | undefined> => {
  const found: Array<PerformanceNumber | undefined> = []
  for (let at = 0; ;) {
    ONE.lastIndex = at
    const match = ONE.exec(text)
    const value = Number(match?.[3])
    OTHER.lastIndex = at
    if (match === null && !OTHER.test(text)) return found
    at = match === null ? OTHER.lastIndex : ONE.lastIndex
    const [, quoted, plain = "", , unit = "", warn, crit, min, max] = match ?? []
    const label = quoted?.replaceAll("''", "'") ?? plain
    found.push(Number.isFinite(value) ? { label, value, unit, warn, crit, min, max } : undefined)
  }
}
