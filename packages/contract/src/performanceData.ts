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
const QUOTED = String.raw`'((?:[^']|'')+)'`
/** Its quotes are part of it, but for one at its beginning. */
const PLAIN = String.raw`[^\s'"=|][^\s=|]*`
const UNIT = String.raw`([^\s\d;,'"=|\p{Cc}\p{Cf}]{0,20})`
const ONE = new RegExp(String.raw`\s*(?:${QUOTED}|(${PLAIN}))=(${NUMBER})${UNIT}((?:;[^\s;|]*)*)(?!\S)`, "yu")
/** A quoted label may contain what looks like a number. */
const OTHER = new RegExp(String.raw`\s*(?:${QUOTED}=\S*|"[^"]*"=\S*|\S+)`, "yu")
const LABELLED = new RegExp(String.raw`^\s*(?:${QUOTED}|"[^"]*"|${PLAIN})=[^\s|]*$`, "u")

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

/** Of each word that follows a `|`, whether it has a label, as performance data have. */
export const areLabelled = (text: string): ReadonlyArray<boolean> => {
  const found: Array<boolean> = []
  for (OTHER.lastIndex = 0; ;) {
    const [word] = OTHER.exec(text) ?? []
    if (word === undefined) return found
    found.push(LABELLED.test(word))
  }
}

const numberOf = ([, quoted, plain = "", figures, unit = "", fields = ""]: RegExpExecArray):
  | PerformanceNumber
  | undefined => {
  const value = Number(figures)
  if (!Number.isFinite(value)) return undefined
  const [, warn, crit, min, max] = fields.split(";")
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
