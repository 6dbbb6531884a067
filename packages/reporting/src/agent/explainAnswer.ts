import type { Answer, RequestKind } from "./Answer.ts"
import type { Submission } from "./Submission.ts"

/** Logged when nothing is refused any more. */
export const ACCEPTS = "the server accepts what is sent"

/** The line that the log gets for an answer, with what a person can do about it. */
export const explainAnswer = (
  kind: RequestKind,
  { verdict, message }: Answer,
  { admission }: Submission,
  fingerprint: () => string,
): string => {
  // An older server may not know schedules.
  if (verdict === "taken" || (verdict === "missing" && kind === "declaration")) return ACCEPTS
  if (verdict === "pending" || verdict === "notAccepted") {
    return `the server has not accepted this agent's key yet: compare the fingerprint ${fingerprint()} and accept it`
  }
  if (admission === "blocked") return `the server has blocked this agent's key ${fingerprint()}: ${message}`
  if (verdict === "conflict") {
    return `another key has this agent's ID, or this key another ID: ${message}; this key is ${fingerprint()}`
  }
  if (verdict === "unauthorized") return `the server does not take this agent's key: ${message}`
  if (verdict === "missing") return `results wait: the path in the address of the server is wrong: ${message}`
  return `${kind === "declaration" ? "the schedule of the checks waits" : "results wait"}: ${message}`
}
