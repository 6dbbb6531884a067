import type { Step } from "../load/Load.ts"

/**
 * Asks the raw server to listen, and to answer batches as the service answers this step. It replies
 * with its port.
 */
export interface RawCommand {
  readonly step: Step
  /** Answers every GET with this, the body in base64. */
  readonly page?: { readonly fields: Readonly<Record<string, string>>; readonly body: string }
}
