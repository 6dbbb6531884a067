import type * as Instant from "../contract/Instant.ts"
import type { Policy } from "../policy/compilePolicy.ts"
import { occurrenceInForce } from "../policy/occurrences.ts"
import { compileCover, type CompiledCover } from "./holdsOf.ts"

/** The maintenance windows that are in force at a moment. */
export const coversInForce = ({ windows }: Policy, now: Instant.Instant): ReadonlyArray<CompiledCover> =>
  windows.flatMap((window) => {
    const occurrence = occurrenceInForce(window, now)
    return occurrence === undefined
      ? []
      : [compileCover({ by: `window:${window.name}`, until: occurrence.ends_at, matchers: window.match })]
  })
