import { OTHER, PLAIN, QUOTED } from "./performanceWords.ts"

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
const UNIT = String.raw`([^\s\d;,'"=|\p{Cc}\p{Cf}]{0,20})`
/** Some plugins put a comma or a semicolon alone between two numbers; a digit behind a comma is of a decimal comma. */
const NEXT = String.raw`[;,](?=[^\s\d;,'"=|][^\s;,=|]*=)`
const ONE = new RegExp(
  String.raw`\s*(?:${QUOTED}|(${PLAIN}))=(${NUMBER})${UNIT}((?:;[^\s;|=]*)*)(?:${NEXT}|,?(?!\S))`,
  "yu",
)
const RANGE = new RegExp(String.raw`^@?(?:(?:~|${NUMBER})?:(?:${NUMBER})?|${NUMBER})$`, "u")
const BOUND = new RegExp(`^${NUMBER}$`, "u")

const readField = (form: RegExp, text = ""): string | undefined => (form.test(text) ? text : undefined)

/**
 * The performance data that follow a `|`, by the grammar of the Monitoring Plugins' guidelines:
 * `'label'=value[unit];warn;crit;min;max`. `undefined` stands for what is no number: another text, a decimal
 * comma, a value that is not finite, or `U`. A number keeps its value without a threshold that is no range.
 */
export const readPerformance = (text: string): ReadonlyArray<PerformanceNumber | undefined> => {
  const found: Array<PerformanceNumber | undefined> = []
  for (let at = 0; ;) {
    ONE.lastIndex = at
    const match = ONE.exec(text)
    OTHER.lastIndex = at
    if (match === null && !OTHER.test(text)) return found
    at = match === null ? OTHER.lastIndex : ONE.lastIndex
    found.push(match === null ? undefined : numberOf(match))
  }
}

/** How the first label of check_multi begins, which states the name of a check before the first of its labels only. */
export const OF_CHECKS = "check_multi::check_multi::"

/** Performance data without the numbers whose labels are not wanted; texts that are no numbers stay. */
const wantedOf = (text: string, isWanted: (label: string) => boolean): string => {
  const isOfChecks = text.trimStart().startsWith(OF_CHECKS)
  let [kept, prefix] = ["", ""]
  for (let at = 0; ;) {
    ONE.lastIndex = at
    const match = ONE.exec(text)
    OTHER.lastIndex = at
    if (match === null && !OTHER.test(text)) return kept + text.slice(at)
    const end = match === null ? OTHER.lastIndex : ONE.lastIndex
    const label = match === null ? undefined : numberOf(match)?.label
    const last = label?.lastIndexOf("::") ?? 0
    if (isOfChecks && last > 0) prefix = label?.slice(0, last + 2) ?? ""
    const carried = last < 0 ? prefix : ""
    // The label that states it may go.
    if (label === undefined || isWanted(carried + label))
      kept += text.slice(at, end).replace(/^\s*'?/u, (lead) => lead + carried)
    at = end
  }
}

/** Performance data: what follows the first bar of the first line, and the first bar of the other lines. */
const splitData = (output: string): ReadonlyArray<readonly [text: string, data: string]> => {
  const end = output.search(/[\r\n]/u)
  const parts = end < 0 ? [output] : [output.slice(0, end), output.slice(end)]
  return parts.map((part) => {
    const at = part.includes("|") ? part.indexOf("|") + 1 : part.length
    return [part.slice(0, at), part.slice(at)]
  })
}

/** The performance data of an output. */
export const dataIn = (output: string): ReadonlyArray<string> =>
  splitData(output).flatMap(([, data]) => (data === "" ? [] : [data]))

export const withNumbers = (output: string, isWanted: (label: string) => boolean): string =>
  splitData(output)
    .map(([text, data]) => text + wantedOf(data, isWanted))
    .join("")

const numberOf = ([, quoted, plain = "", figures, unit = "", fields = ""]: RegExpExecArray):
  | PerformanceNumber
  | undefined => {
  const value = Number(figures)
  if (!Number.isFinite(value)) return undefined
  const [, warn, crit, min, max] = (fields.endsWith(",") ? fields.slice(0, -1) : fields).split(";")
  return {
    label: quoted?.replaceAll("''", "'") ?? plain,
    value,
    unit,
    warn: readField(RANGE, warn),
    crit: readField(RANGE, crit),
    min: readField(BOUND, min),
    max: readField(BOUND, max),
  }
}
