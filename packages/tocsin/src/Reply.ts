import type { TocsinError, TocsinErrorCode } from "./TocsinError.ts"

/** What became of a call: its value, or its error with the codes that this call can fail with. */
export type Outcome<A, Code extends TocsinErrorCode> =
  | { readonly ok: true; readonly value: A }
  // Distributed over the codes, so that a `switch` on `error.code` narrows and is checked to be exhaustive.
  | { readonly ok: false; readonly error: Code extends TocsinErrorCode ? TocsinError<Code> : never }

/**
 * What every method returns: a promise that rejects with a {@link TocsinError}; and, for those who want the possible errors
 * in the types, `outcome()`, which does not reject.
 *
 * @example
 * ```ts
 * const outcome = await monitor.events(key, batch).outcome()
 * if (!outcome.ok) {
 *   switch (outcome.error.code) {
 *     case "agent_not_accepted":
 *       return askAnOperator()
 *     // … the compiler knows the other codes of this method, and no more than those
 *   }
 * }
 * ```
 */
export interface Reply<A, Code extends TocsinErrorCode> extends Promise<A> {
  /** The same call, as a value: never rejects. */
  readonly outcome: () => Promise<Outcome<A, Code>>
}
