import type { ExitName } from "../../exitCodes.ts"

/** What one check of the doctor found. */
export interface Finding {
  /** What was looked at. */
  readonly check: string
  /** `attention`: it works, but somebody should look at it. */
  readonly level: "ok" | "attention" | "failed"
  /** What was found and, unless it is well, what to do. */
  readonly message: string
}

/** A finding that fails the command, with how it ends then. */
export interface FailedFinding extends Finding {
  readonly level: "failed"
  readonly exit: Extract<ExitName, "failed" | "usage" | "storage">
}

/** Findings of one part, in the order in which they are told. */
export type Findings = ReadonlyArray<FailedFinding | (Finding & { readonly level: "ok" | "attention" })>

type One = Findings[number]

/** All is well. */
export const ok = (check: string, message: string): One => ({ check, level: "ok", message })

/** It works, but. */
export const attention = (check: string, message: string): One => ({ check, level: "attention", message })

/** It does not work. */
export const failed = (check: string, message: string, exit: FailedFinding["exit"]): One => ({
  check,
  level: "failed",
  message,
  exit,
})
