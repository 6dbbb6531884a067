import type { CheckStatus } from "./Status.ts"

/** How plugins begin what they say, where the status stands beside it: `HTTP CRITICAL - `, `[CRITICAL] `. */
const beginningOf = (status: CheckStatus): RegExp => {
  const word = status.toUpperCase()
  return new RegExp(String.raw`^(?:(?:[A-Z0-9_.-]+ ){0,3}${word} ?[:\u2013\u2014-] +|\[${word}\] +)`, "u")
}

const BEGINNINGS: Readonly<Record<CheckStatus, RegExp>> = {
  ok: beginningOf("ok"),
  warning: beginningOf("warning"),
  critical: beginningOf("critical"),
  unknown: beginningOf("unknown"),
}

/**
 * A headline without the status that stands beside it, once, unless nothing would be left
 * (docs/rules.md#details).
 */
export const cutHeadline = (line: string, status: CheckStatus): string => {
  const rest = line.replace(BEGINNINGS[status], "")
  return rest.trim() === "" ? line : rest
}
