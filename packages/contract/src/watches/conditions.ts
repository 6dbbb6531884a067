import { pathOfPointer, valueAt } from "../formats/jsonPointer.ts"
import { plainLine } from "../formats/plainLine.ts"
import { isSecretLikeLabelKey } from "../labels/isSecretLikeLabelKey.ts"
import { type ConditionValue, LONGEST_WANTED, quoted, ruleOf, shown, valueHolds } from "./ConditionValue.ts"

/** Conditions of an answer, all of which must hold. */
export interface Conditions {
  /** Statuses, and ranges such as `300-399`. */
  readonly status?: ReadonlyArray<number | string>
  readonly header?: Readonly<Record<string, ConditionValue>>
  readonly text?: string
  readonly not_text?: string
  /** By JSON Pointer. */
  readonly json?: Readonly<Record<string, ConditionValue>>
}

/** Conditions that are critical, and those that only warn. */
export interface Expectation extends Conditions {
  readonly warning?: Conditions
}

/** An answer, as conditions judge it. */
export interface JudgedAnswer {
  readonly status: number
  /** How long it took. */
  readonly seconds: number
  /** Its header fields by names in small letters; equal ones are joined by `, `. */
  readonly headers: ReadonlyMap<string, string>
  readonly body: string
  /** Whether the body is all of it, and at most 1 MiB. */
  readonly isWhole: boolean
  /** The words for anything that a search in the body depended on. */
  readonly where: string
}

/** A condition that failed, in words. */
export interface FailedCondition {
  readonly status: "critical" | "warning"
  readonly words: string
}

const inRange = (status: number, one: number | string): boolean => {
  const [low, high = low] = typeof one === "number" ? [one] : one.split("-").map(Number)
  return low !== undefined && high !== undefined && status >= low && status <= high
}

/** Whether a status is one of these numbers and ranges. */
export const isStatusOf = (status: number, wanted: ReadonlyArray<number | string>): boolean =>
  wanted.some((one) => inRange(status, one))

const parsed = ({ body, isWhole }: JudgedAnswer): { readonly document: unknown } | undefined => {
  try {
    return isWhole ? { document: JSON.parse(body) } : undefined
  } catch {
    return undefined
  }
}

interface Judging {
  readonly shownUrl: string
  /** Pointers and names of header fields whose values no result shows. */
  readonly secret?: ReadonlyArray<string> | undefined
}

const lastSegment = (name: string): string =>
  name.startsWith("/") ? (pathOfPointer(name).at(-1) ?? "") : name

const isHidden = (name: string, secret: ReadonlyArray<string> = []): boolean =>
  isSecretLikeLabelKey(lastSegment(name)) ||
  secret.some((one) => one === name || (!name.startsWith("/") && one.toLowerCase() === name.toLowerCase()))

/** The words for each value that is not what it must be. `of` is `json` or `header`. */
const failedValues = (
  of: "header" | "json",
  wanted: Readonly<Record<string, ConditionValue>> = {},
  find: (name: string) => { readonly found: unknown; readonly isNone?: string | undefined },
  { secret, shownUrl }: Judging,
): ReadonlyArray<string> =>
  Object.entries(wanted).flatMap(([name, written]) => {
    const { found, isNone } = find(name)
    const place = `${shownUrl}: ${of} ${plainLine(name) || '""'}`
    if (isNone !== undefined) return [`${place} cannot be read: ${isNone}`]
    // A header field is text: a number stands for its digits.
    const value = of === "header" && typeof written !== "string" ? `= ${written}` : written
    if (valueHolds(value, found)) return []
    if (found !== undefined && isHidden(name, secret)) return [`${place} is not shown, and is not as wanted`]
    const rule = typeof value === "string" ? ruleOf(value) : undefined
    const must = rule?.rule.says(rule.operand, rule.operator) ?? `be ${value}`
    return [`${place} is ${shown(found)} and must ${isHidden(name, secret) ? "be another" : must}`]
  })

const NO_JSON = "the page is no JSON of at most 1 MiB"

/** The words of each condition that fails, in the order in which they are judged. */
const CONDITIONS: {
  readonly [K in keyof Required<Conditions>]: (
    wanted: Conditions,
    answer: JudgedAnswer,
    judging: Judging,
  ) => ReadonlyArray<string>
} = {
  status: ({ status }, answer, { shownUrl }) =>
    status === undefined || isStatusOf(answer.status, status)
      ? []
      : [`${answer.status} ${shownUrl} in ${answer.seconds.toFixed(3)} s`],
  header: ({ header }, { headers }, judging) =>
    failedValues("header", header, (name) => ({ found: headers.get(name.toLowerCase()) }), judging),
  text: ({ text }, { body, where }, { shownUrl }) =>
    text === undefined || body.includes(text)
      ? []
      : [`${shownUrl} lacks ${quoted(text, LONGEST_WANTED)}${where}`],
  not_text: ({ not_text }, { body, where }, { shownUrl }) =>
    not_text === undefined || !body.includes(not_text)
      ? []
      : [`${shownUrl} has ${quoted(not_text, LONGEST_WANTED)}${where}`],
  json: ({ json }, answer, judging) => {
    if (json === undefined) return []
    const page = parsed(answer)
    const find = (pointer: string) =>
      page === undefined
        ? { found: undefined, isNone: NO_JSON }
        : { found: valueAt(page.document, pathOfPointer(pointer)) }
    return failedValues("json", json, find, judging)
  },
}

/** The conditions that an answer fails: critical ones, then those that warn, each in the order of the table. */
export const failedConditions = (
  { warning, ...critical }: Expectation,
  answer: JudgedAnswer,
  judging: Judging,
): ReadonlyArray<FailedCondition> => {
  const words = (wanted: Conditions) =>
    Object.values(CONDITIONS).flatMap((judge) => judge(wanted, answer, judging))
  return [
    ...words(critical).map((one) => ({ status: "critical" as const, words: one })),
    ...(warning === undefined ? [] : words(warning)).map((one) => ({
      status: "warning" as const,
      words: one,
    })),
  ]
}
