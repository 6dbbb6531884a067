import { Duration } from "effect"
import * as Instant from "@tocsin/contract/Instant"
import { lastOutage } from "../liveness/outage.ts"
import type { ServiceHeartbeatRecord } from "../model/ServiceHeartbeatRecord.ts"

/** After an outage, agents report recoveries before notifications that waited are sent. */
const OUTAGE_GRACE = Duration.minutes(2)

/** An outage that agents may still have to report from, and until when. */
export interface OutageGrace {
  readonly began_at: Instant.Instant
  readonly until: Instant.Instant
}

/** The outage that ended less than two minutes ago, if there is one (docs/rules.md#holds). */
export const outageGraceAt = (
  serviceHeartbeat: ServiceHeartbeatRecord | undefined,
  now: Instant.Instant,
  staleAfter: Duration.Duration,
): OutageGrace | undefined => {
  const outage = lastOutage(serviceHeartbeat, now, { staleAfter })
  if (outage?.began_at === undefined) return undefined
  const until = Instant.plus(outage.ended_at, OUTAGE_GRACE)
  return now < until ? { began_at: outage.began_at, until } : undefined
}
