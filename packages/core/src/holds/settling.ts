import { Duration } from "effect"
import * as Instant from "@tocsin/contract/Instant"
import { lastOutage } from "../liveness/outage.ts"
import type { MarkRecord } from "../model/MarkRecord.ts"

/** After an outage, agents report recoveries before notifications that were held are sent. */
const SETTLE = Duration.minutes(2)

/** An outage that agents may still have to report from. */
export interface Settling {
  readonly began_at: Instant.Instant
  readonly ended_at: Instant.Instant
}

/** The outage that ended less than two minutes ago, if there is one (docs/rules.md#holds). */
export const settlingAt = (
  mark: MarkRecord | undefined,
  now: Instant.Instant,
  staleAfter: Duration.Duration,
): Settling | undefined => {
  const outage = lastOutage(mark, now, { staleAfter })
  if (outage?.began_at === undefined || now >= Instant.plus(outage.ended_at, SETTLE)) return undefined
  return { began_at: outage.began_at, ended_at: outage.ended_at }
}

/** The end of a hold: later, if it ended during an outage. */
export const settledEnd = (until: Instant.Instant, settling: Settling | undefined): Instant.Instant =>
  settling !== undefined && settling.began_at < until && until <= settling.ended_at
    ? Instant.plus(settling.ended_at, SETTLE)
    : until
