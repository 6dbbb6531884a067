import { Effect } from "effect"
import type { CommandFailure } from "../../CommandFailure.ts"

export interface Finding {
  readonly check: string
  /** `attention`: it works, but a person should look at it. `failed` fails the command. */
  readonly level: "ok" | "attention" | "failed"
  /** The finding and, unless it is ok, the advice. */
  readonly message: string
  /** The exit code, if it is the worst finding. */
  readonly exit?: CommandFailure["exit"]
}

export type Findings = ReadonlyArray<Finding>

export const ok = (check: string, message: string): Finding => ({ check, level: "ok", message })

export const attention = (check: string, message: string): Finding => ({ check, level: "attention", message })

export const failed = (check: string, message: string, exit: "failed" | "usage" | "storage"): Finding => ({
  check,
  level: "failed",
  message,
  exit,
})

/** Something to look at, where it applies. */
export const attentionIf = (applies: boolean, check: string, message: string): Findings =>
  applies ? [attention(check, message)] : []

/** A subject in order where nothing is found, and otherwise to be looked at. */
export const okUnless = (isFound: boolean, check: string, order: string, message: string): Finding =>
  isFound ? attention(check, message) : ok(check, order)

/** Findings, or that the storage failed while they were looked for. */
export const orFailed = <E extends { readonly message: string }, R>(
  check: string,
  findings: Effect.Effect<Findings, E, R>,
) => Effect.catch(findings, ({ message }) => Effect.succeed<Findings>([failed(check, message, "storage")]))
