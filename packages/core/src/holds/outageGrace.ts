import { Duration } from "effect"
import * as Instant from "@tocsin/contract/Instant"
import { lastOutage } from "../liveness/outage.ts"
import type { ServiceHeartbeatRecord } from "../model/ServiceHeartbeatRecord.ts"

/** After an outage, agents report recoveries before notifications that were held are sent. */
const OUTAGE_GRACE = Duration.minutes(2)

/** An outage that agents may still have to report from. */
export interface OutageGrace {
  readonly began_at: Instant.Instant
  readonly ended_at: Instant.Instant
}

/** The outage that ended less than two minutes ago, if there is one (docs/rules.md#holds). */
export const outageGraceAt = (
  serviceHeartbeat: ServiceHeartbeatRecord | undefined,
  now: Instant.Instant,
  staleAfter: Duration.Duration,
): OutageGrace | undefined => {
  const outage = lastOutage(serviceHeartbeat, now, { staleAfter })
  if (outage?.began_at === undefined || now >= Instant.plus(outage.ended_at, OUTAGE_GRACE)) return undefined
  return { began_at: outage.began_at, ended_at: outage.ended_at }
}

/** The end of a hold: later, if it ended during an outage. */
export const endAfterGrace = (until: Instant.Instant, grace: OutageGrace | undefined): Instant.Instant =>
  grace !== undefined && grace.began_at < until && until <= grace.ended_at
    ? Instant.plus(grace.ended_at, OUTAGE_GRACE)
    : until
