import { Duration } from "effect"
import type { PolicyOptions } from "../ports/Policy.ts"

/** The shortest threshold: four marks of the service fit into it, each of which takes a commit. */
export const SHORTEST_THRESHOLD = Duration.seconds(2)

/** Why agents cannot be judged by these thresholds, a sentence each; nothing where they can. */
export const thresholdProblems = (
  thresholds: Pick<PolicyOptions, "staleAfter" | "deadAfter">,
): ReadonlyArray<string> => {
  const { staleAfter, deadAfter } = thresholds
  const short = (["staleAfter", "deadAfter"] as const)
    .filter((name) => Duration.isLessThan(thresholds[name], SHORTEST_THRESHOLD))
    .map((name) => `${name} must be 2 seconds or longer`)
  return Duration.isGreaterThan(deadAfter, staleAfter)
    ? short
    : [...short, "deadAfter must be longer than staleAfter"]
}
