import type { ExitName } from "../../CommandFailure.ts"

/** The result of one check of the doctor. */
interface Checked {
  /** The subject of the check. */
  readonly check: string
  /** The finding and, unless it is ok, the advice. */
  readonly message: string
}

/** A finding that fails the command, with the exit code. */
export interface FailedFinding extends Checked {
  readonly level: "failed"
  readonly exit: Extract<ExitName, "failed" | "usage" | "storage">
}

/** `attention`: it works, but a person should look at it. */
export type Finding = FailedFinding | (Checked & { readonly level: "ok" | "attention" })

export type Findings = ReadonlyArray<Finding>

export const ok = (check: string, message: string): Finding => ({ check, level: "ok", message })

export const attention = (check: string, message: string): Finding => ({
  check,
  level: "attention",
  message,
})

export const failed = (check: string, message: string, exit: FailedFinding["exit"]): Finding => ({
  check,
  level: "failed",
  message,
  exit,
})
