import { BOUNDS, MOST, TIMES } from "@tocsin/contract/watches/watchOptions"
import { equalTo, isWholeRecord } from "./probeOfKuma.ts"

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

/** The kind of a probe, and its options. */
export type GatusProbe = readonly [kind: string, options: Readonly<Record<string, unknown>>]

/** A part of a watch that a condition becomes, by the way to it; `none` where each probe asks it anyway. */
type Part = readonly [path: ReadonlyArray<string>, value: unknown] | "none" | undefined

const numberIn = (text: string): number | undefined => (/^\d{1,9}$/.test(text) ? Number(text) : undefined)
const NUMBER = /^-?\d{1,15}(?:\.\d{1,15})?$/

const { max: HIGHEST, min: LOWEST } = BOUNDS.status

const isStatus = (one: number | undefined): boolean => one !== undefined && one >= LOWEST && one <= HIGHEST

const statusPart = (operator: string, wanted: string): Part => {
  const path = ["expect", "status"]
  const any = /^any\((.*)\)$/.exec(wanted)?.[1]?.split(",")
  const all = (any ?? [wanted]).map((one) => numberIn(one.trim()))
  if (operator === "==") return all.length <= MOST.ranges && all.every(isStatus) ? [path, all] : undefined
  const [most = LOWEST] = all
  const highest = Math.min(operator === "<" ? most - 1 : most, HIGHEST)
  const isRange = any === undefined && (operator === "<" || operator === "<=") && highest >= LOWEST
  return isRange ? [path, [`${LOWEST}-${highest}`]] : undefined
}

const PATH = /^\[BODY\]((?:\.[^.[\]\s()]+|\[\d+\])+)$/

const pointerOf = (place: string): string | undefined => {
  const path = PATH.exec(place)?.[1]
  return path === undefined
    ? undefined
    : path
        .split(/[.[\]]+/)
        .flatMap((name) => (name === "" ? [] : [`/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`]))
        .join("")
}

const jsonPart = (pointer: string, operator: string, wanted: string): Part => {
  const pattern = /^pat\((.*)\)$/.exec(wanted)?.[1]
  const path = ["expect", "json", pointer]
  if (pattern !== undefined) return operator === "==" ? [path, `~ ${pattern}`] : undefined
  if (wanted.startsWith("any(")) return undefined
  if (operator === "==") return [path, equalTo(wanted)]
  if (operator === "!=") return [path, `!= ${wanted}`]
  return NUMBER.test(wanted) ? [path, `${operator} ${wanted}`] : undefined
}

/** The part for a condition of a page, of what a connection sends, or of the records of a name. */
const bodyPart = ([kind, { method, type }]: GatusProbe, operator: string, right: string): Part => {
  if (operator !== "==" || method === "HEAD") return undefined
  if (kind === "dns") {
    const isRecord = !/^(?:pat|any)\(.*\)$/.test(right) && isWholeRecord(String(type), right)
    return isRecord ? [["expect"], [right]] : undefined
  }
  const text = /^pat\(\*(.+)\*\)$/.exec(right)?.[1]
  if (text === undefined || /[*?]/.test(text)) return undefined
  if (kind === "http") return [["expect", "text"], text]
  return kind === "tcp" || kind === "websocket" ? [["expect"], text] : undefined
}

const memberPart = (left: string, operator: string, right: string): Part => {
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

/** The part of a watch that a condition of Gatus becomes; nothing if it has no equal. */
export const partOf = (condition: string, probe: GatusProbe): Part => {
  const [kind, { method }] = probe
  const found = /==|!=|<=|>=|<|>/.exec(condition)
  const [operator = ""] = found ?? []
  const left = condition.slice(0, found?.index ?? 0).trim()
  const right = condition.slice((found?.index ?? 0) + operator.length).trim()
  if (left === "[CONNECTED]" && operator === "==" && right === "true") return "none"
  if (left === "[DNS_RCODE]" && operator === "==" && right === "NOERROR") return "none"
  if (left === "[STATUS]") return kind === "http" ? statusPart(operator, right) : undefined
  if (left === "[RESPONSE_TIME]") {
    const most = numberIn(right) ?? 0
    return operator === "<" && most > 0 && most <= TIMES.time.max
      ? [["time", "critical"], `${right}ms`]
      : undefined
  }
  if (left === "[CERTIFICATE_EXPIRATION]" && operator === ">" && (kind === "http" || kind === "tls")) {
    const days = Math.ceil(secondsOf(right, Number.NaN) / SECONDS_PER_DAY)
    return days >= 1 && days <= BOUNDS.days.max ? [["days", "critical"], days] : undefined
  }
  if (left === "[BODY]") return bodyPart(probe, operator, right)
  return kind === "http" && method !== "HEAD" ? memberPart(left, operator, right) : undefined
}
