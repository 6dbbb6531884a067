import { compileGlob } from "../formats/compileGlob.ts"
import { plainLine } from "../formats/plainLine.ts"

/** The VALUE that a field of JSON or of a header must have (docs/watches.md#conditions). */
export type ConditionValue = string | number | boolean | null

const DECIMAL = /-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/.source
const NUMBER = new RegExp(`^${DECIMAL}$`)
const COMPARISONS: Readonly<Record<string, (a: number, b: number) => boolean>> = {
  "<": (a, b) => a < b,
  "<=": (a, b) => a <= b,
  ">": (a, b) => a > b,
  ">=": (a, b) => a >= b,
}

const isThere = (found: unknown): boolean => found !== undefined

/** Whether JSON writes a value so. One that is nested too deep to be written is none. */
const isWritten = (found: unknown, text: string): boolean => {
  try {
    return found === text || (typeof found !== "string" && JSON.stringify(found) === text)
  } catch {
    return false
  }
}

const numberOf = (found: unknown): number =>
  typeof found === "number" || (typeof found === "string" && NUMBER.test(found)) ? Number(found) : Number.NaN

interface ValueRule {
  /** How it is written; its last group is the operand. */
  readonly form: RegExp
  readonly holds: (found: unknown, operand: string, operator: string) => boolean
  /** Completes "it must …", where it fails. */
  readonly says: (operand: string, operator: string) => string
}

/** Every way to write a text as VALUE, the first that fits counts. */
const VALUE_RULES: ReadonlyArray<ValueRule> = [
  { form: /^(exists)$/, holds: isThere, says: () => "be there" },
  { form: /^(absent)$/, holds: (found) => !isThere(found), says: () => "be absent" },
  {
    form: new RegExp(`^([<>]=?) (${DECIMAL})$`),
    holds: (found, operand, operator) => COMPARISONS[operator]?.(numberOf(found), Number(operand)) === true,
    says: (operand, operator) => `be ${operator} ${operand}`,
  },
  {
    form: /^~ (.*)$/s,
    holds: (found, operand) => typeof found === "string" && compileGlob(operand)(found),
    says: (operand) => `match ${quoted(operand)}`,
  },
  {
    form: /^= (.*)$/s,
    holds: (found, operand) => found === operand,
    says: (operand) => `be ${quoted(operand)}`,
  },
  {
    form: /^!= (.*)$/s,
    holds: (found, operand) => isThere(found) && !isWritten(found, operand),
    says: (operand) => `not be ${quoted(operand)}`,
  },
  {
    form: /^(.*)$/s,
    holds: (found, operand) => found === operand,
    says: (operand) => `be ${quoted(operand)}`,
  },
]

/** The rule of a text, and its parts. */
export const ruleOf = (written: string) => {
  for (const rule of VALUE_RULES) {
    const match = rule.form.exec(written)
    if (match !== null) return { rule, operand: match.at(-1) ?? "", operator: match[1] ?? "" }
  }
  return undefined
}

/** Whether a value is what a condition wants; `undefined` is an absent one. */
export const valueHolds = (written: ConditionValue, found: unknown): boolean => {
  if (typeof written !== "string") return found === written
  const of = ruleOf(written)
  return of?.rule.holds(found, of.operand, of.operator) === true
}

/** Why something is no VALUE; completes the name of its place. */
export const valueProblem = (written: ConditionValue): string | undefined =>
  typeof written !== "number" || Number.isFinite(written) ? undefined : "must be a number that JSON can have"

const LONGEST_SHOWN = 200
/** Room for 200 characters of a wanted text. */
export const LONGEST_WANTED = 203

/** A text as results quote it: one line, cut. */
export const quoted = (whole: string, longest = LONGEST_SHOWN): string => {
  const line = plainLine(whole)
  const characters = Array.from(line.slice(0, 2 * longest))
  const cut = characters.length > longest - 2
  return `"${cut ? `${characters.slice(0, longest - 3).join("")}…` : line}"`
}

/** A value as results show it, of a body no more than one. */
export const shown = (found: unknown): string => {
  if (found === undefined) return "absent"
  if (typeof found === "string") return quoted(found)
  if (Array.isArray(found)) return "a list"
  return typeof found === "object" && found !== null ? "an object" : String(found)
}

/** Whether a text as VALUE stands for itself. */
export const isPlainValue = (text: string): boolean =>
  VALUE_RULES.findIndex(({ form }) => form.test(text)) === VALUE_RULES.length - 1
