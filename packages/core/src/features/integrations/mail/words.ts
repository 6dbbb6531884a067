import type { CheckStatus } from "@tocsin/contract/formats/Status"
import type { IntegrationOptions } from "@tocsin/contract/integrations/Integrations"
import { matchGlobs } from "./matchGlob.ts"

/** Words of a subject; those that end in a star begin like that. */
const FAILED = ["fail*", "error*", "critical", "problem*", "down", "lost", "degraded", "unsuccess*", "not"]
const WARNED = ["warn*"]
const RECOVERED = "ok recover* resolved restored returned cleared succe* completed up online".split(" ")
/** Directly before a word of a failure, these say that there is none. */
const NONE: ReadonlySet<string> = new Set(["0", "no", "without"])

const isOf = (known: ReadonlyArray<string>, word: string): boolean =>
  known.some((each) => (each.endsWith("*") ? word.startsWith(each.slice(0, -1)) : word === each))

/** The status that the words of a subject state: of failures first, then of warnings, then of recoveries. */
export const statusByWords = (
  subject: string,
  { failed, recovered, status = "critical" }: Pick<IntegrationOptions, "failed" | "recovered" | "status">,
): CheckStatus => {
  const words = subject.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []
  const hasFailed =
    failed === undefined
      ? words.some((word, at) => isOf(FAILED, word) && !NONE.has(words[at - 1] ?? ""))
      : matchGlobs(failed, subject) !== undefined
  if (hasFailed) return "critical"
  if (words.some((word) => isOf(WARNED, word))) return "warning"
  const hasRecovered =
    recovered === undefined
      ? words.some((word) => isOf(RECOVERED, word))
      : matchGlobs(recovered, subject) !== undefined
  return hasRecovered ? "ok" : status
}
