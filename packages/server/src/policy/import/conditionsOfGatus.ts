import { valueOfText } from "./probeOfKuma.ts"

const SECONDS: Readonly<Record<string, number>> = {
  ns: 1e-9,
  us: 1e-6,
  µs: 1e-6,
  ms: 1e-3,
  s: 1,
  m: 60,
  h: 3_600,
}

/** Seconds of a duration as Go writes it, such as `1h30m`. */
export const secondsOf = (given: unknown, otherwise: number): number => {
  const text = String(given ?? "")
  const parts = [...text.matchAll(/(\d{1,19}(?:\.\d{1,19})?)(ns|us|µs|ms|s|m|h)/g)]
  if (parts.length === 0 || parts.map(([whole]) => whole).join("") !== text) return otherwise
  return parts.reduce((sum, [, count, unit = "s"]) => sum + Number(count) * (SECONDS[unit] ?? 0), 0)
}

const SECONDS_PER_DAY = 86_400

/** A part of a watch that a condition becomes, by the way to it; `none` where each probe asks it anyway. */
type Part = readonly [path: ReadonlyArray<string>, value: unknown] | "none" | undefined

const numberIn = (text: string): number | undefined => (/^\d+$/.test(text) ? Number(text) : undefined)

const LOWEST = 100
const HIGHEST = 599

const statusPart = (operator: string, wanted: string): Part => {
  const any = /^any\((.*)\)$/
    .exec(wanted)?.[1]
    ?.split(",")
    .map((one) => numberIn(one.trim()))
  const one = numberIn(wanted)
  const path = ["expect", "status"]
  if (operator === "==" && any?.every((each) => each !== undefined)) return [path, any]
  if (one === undefined) return undefined
  if (operator === "==") return [path, [one]]
  if (operator === "<") return [path, [`${LOWEST}-${one - 1}`]]
  if (operator === "<=") return [path, [`${LOWEST}-${Math.min(one, HIGHEST)}`]]
  return undefined
}

const PATH = /^\[BODY\]((?:\.[A-Za-z_]\w*|\[\d+\])+)$/

const pointerOf = (place: string): string | undefined => {
  const path = PATH.exec(place)?.[1]
  return path === undefined
    ? undefined
    : path
        .split(/[.[\]]+/)
        .flatMap((name) => (name === "" ? [] : [`/${name}`]))
        .join("")
}

const LITERAL = /^(?:true|false|null|-?\d+(?:\.\d+)?)$/

const jsonPart = (pointer: string, operator: string, wanted: string): Part => {
  const pattern = /^pat\((.*)\)$/.exec(wanted)?.[1]
  const path = ["expect", "json", pointer]
  if (pattern !== undefined) return operator === "==" ? [path, `~ ${pattern}`] : undefined
  if (wanted.startsWith("any(")) return undefined
  if (operator === "==") return [path, LITERAL.test(wanted) ? JSON.parse(wanted) : valueOfText(wanted)]
  if (operator === "!=") return [path, `!= ${wanted}`]
  return numberIn(wanted) === undefined ? undefined : [path, `${operator} ${wanted}`]
}

/** The part of a watch that a condition of Gatus becomes; nothing if it has no equal. */
export const partOf = (condition: string, kind: string): Part => {
  const found = /==|!=|<=|>=|<|>/.exec(condition)
  const [operator = ""] = found ?? []
  const left = condition.slice(0, found?.index ?? 0).trim()
  const right = condition.slice((found?.index ?? 0) + operator.length).trim()
  if (left === "[CONNECTED]" && operator === "==" && right === "true") return "none"
  if (left === "[DNS_RCODE]" && operator === "==" && right === "NOERROR") return "none"
  if (left === "[STATUS]") return kind === "http" ? statusPart(operator, right) : undefined
  if (left === "[RESPONSE_TIME]" && operator === "<" && numberIn(right) !== undefined)
    return [["time", "critical"], `${right}ms`]
  if (left === "[CERTIFICATE_EXPIRATION]" && operator === ">" && (kind === "http" || kind === "tls")) {
    const days = Math.ceil(secondsOf(right, Number.NaN) / SECONDS_PER_DAY)
    return days >= 1 ? [["days", "critical"], days] : undefined
  }
  if (left === "[BODY]" && kind === "dns" && operator === "==") return [["expect"], [right]]
  if (kind !== "http") return undefined
  const text = /^pat\(\*(.+)\*\)$/.exec(right)?.[1]
  if (left === "[BODY]")
    return operator === "==" && text !== undefined && !/[*?]/.test(text)
      ? [["expect", "text"], text]
      : undefined
  const has = pointerOf(/^has\((.*)\)$/.exec(left)?.[1] ?? "")
  if (has !== undefined && operator === "==" && (right === "true" || right === "false"))
    return [["expect", "json", has], right === "true" ? "exists" : "absent"]
  const length = pointerOf(/^len\((.*)\)$/.exec(left)?.[1] ?? "")
  const most = numberIn(right)
  if (length !== undefined)
    return operator === "<" && most !== undefined && most > 0
      ? [["expect", "json", `${length}/${most - 1}`], "absent"]
      : undefined
  const pointer = pointerOf(left)
  return pointer === undefined ? undefined : jsonPart(pointer, operator, right)
}
