import type * as Instant from "@tocsin/contract/Instant"
import type { Policy } from "../policy/compilePolicy.ts"
import { occurrenceInForce } from "../policy/occurrences.ts"
import type { SilenceRecord } from "../model/SilenceRecord.ts"
import { compileCover, type Cover, type CompiledCover } from "./holdsOf.ts"
import { settledEnd, type Settling } from "./settling.ts"

interface CoverSources {
  readonly policy: Policy
  /** Those that have begun, and have not ended when this outage began. */
  readonly silences: ReadonlyArray<SilenceRecord>
  readonly settling: Settling | undefined
}

/** The silences and maintenance windows that are in force at a moment, while agents settle too. */
export const coversInForce = (
  { policy, settling, silences }: CoverSources,
  now: Instant.Instant,
): ReadonlyArray<CompiledCover> => {
  const covers: ReadonlyArray<Cover> = [
    ...silences.flatMap(({ ends_at, id, matchers }) =>
      // Without matchers its row is damaged: an empty list would match everything.
      matchers.length === 0 ? [] : ({ by: `silence:${id}`, until: ends_at, matchers } as const),
    ),
    ...policy.windows.flatMap((window) => {
      const occurrence =
        occurrenceInForce(window, now) ?? (settling && occurrenceInForce(window, settling.began_at))
      return occurrence === undefined
        ? []
        : ({ by: `window:${window.name}`, until: occurrence.ends_at, matchers: window.match } as const)
    }),
  ]
  return covers
    .map((cover) => ({ ...cover, until: settledEnd(cover.until, settling) }))
    .filter(({ until }) => now < until)
    .map(compileCover)
}
