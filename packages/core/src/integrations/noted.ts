import { Duration } from "effect"
import * as Instant from "@tocsin/contract/Instant"
import type { IntegrationRecord } from "../model/IntegrationRecord.ts"
import { resendOf } from "./alertTimes.ts"
import type { Reading, Refusal } from "./Report.ts"
import { hear } from "./sources.ts"

// Limits how often a request writes the integration (docs/rules.md#integrations).
const NOTED_EVERY = Duration.seconds(15)

/** Whether a request is refused as a whole. */
export const isRefusal = (reading: Reading | Refusal): reading is Refusal => "refused" in reading

/** The integration with what a request notes on it; `undefined` if it was noted a moment ago. */
export const noted = (
  integration: IntegrationRecord,
  reading: Reading | Refusal,
  [refusal]: ReadonlyArray<Refusal>,
  now: Instant.Instant,
): IntegrationRecord | undefined => {
  const isDue = (last: Instant.Instant | undefined) =>
    last === undefined || !Instant.isRecent(last, NOTED_EVERY, now)
  const sources = isRefusal(reading)
    ? undefined
    : hear(integration.sources, reading.heard, resendOf(integration.options), now)
  const isTaken = !isRefusal(reading) && (refusal === undefined || reading.reports.length > 0)
  const isNoted = isTaken && isDue(integration.last_request_at)
  const isRefusalNoted = refusal !== undefined && isDue(integration.last_refused_at)
  if (sources === undefined && !isNoted && !isRefusalNoted) return undefined
  return {
    ...integration,
    ...(sources !== undefined && { sources }),
    ...(isNoted && { last_request_at: now }),
    ...(isRefusalNoted && { last_refused_at: now, last_refusal: refusal.message }),
  }
}
