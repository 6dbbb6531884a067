import { Duration } from "effect"
import * as Instant from "@tocsin/contract/formats/Instant"
import { commandOf, type Decision, loadRow } from "../../kernel/unitOfWork/Decision.ts"
import type { RuleOptions } from "../../kernel/ports/RuleSettings.ts"
import type { ServiceHeartbeatRecord } from "../../kernel/model/ServiceHeartbeatRecord.ts"

/**
 * Whether agents may still be returning after an outage of the service: for one dead threshold
 * after its end, no agent counts as dead (docs/rules.md#outages-of-the-service).
 */
export const isInGrace = (
  serviceHeartbeat: ServiceHeartbeatRecord | undefined,
  now: Instant.Instant,
  rules: RuleOptions,
): boolean => {
  const end = lastOutage(serviceHeartbeat, now, rules)?.ended_at
  return end !== undefined && now < Instant.plus(end, rules.deadAfter)
}

/**
 * The last outage, in which the service could not commit, and the last service heartbeat before it. It ends
 * now if the last service heartbeat is older than the stale threshold. An end in the future comes from a
 * clock set back since, and counts as now; otherwise the grace would last until the clock caught up.
 */
export const lastOutage = (
  serviceHeartbeat: ServiceHeartbeatRecord | undefined,
  now: Instant.Instant,
  { staleAfter }: Pick<RuleOptions, "staleAfter">,
): { readonly began_at: Instant.Instant | undefined; readonly ended_at: Instant.Instant } | undefined => {
  if (serviceHeartbeat === undefined) return undefined
  const { beat_at, outage_began_at: began_at, outage_ended_at: ended_at } = serviceHeartbeat
  if (beat_at < Instant.minus(now, staleAfter)) return { began_at: beat_at, ended_at: now }
  return ended_at && { began_at, ended_at: Instant.min(ended_at, now) }
}

// Four service heartbeats fit into the longest gap that is not an outage, so that one slow service heartbeat is not an
// outage.
const MARKS_PER_THRESHOLD = 4
const LONGEST_INTERVAL = Duration.seconds(5)

export const serviceHeartbeatEvery = ({ staleAfter }: RuleOptions): Duration.Duration =>
  Duration.min(LONGEST_INTERVAL, Duration.divideUnsafe(staleAfter, MARKS_PER_THRESHOLD))

/** Whether a moment lies so far ahead that a clock was set back since. Clocks of replicas differ by less. */
export const isFarAhead = (at: Instant.Instant, now: Instant.Instant, rules: RuleOptions): boolean =>
  at > Instant.plus(now, serviceHeartbeatEvery(rules))

/**
 * Records that the service could commit now, and whether an outage ended. The service heartbeat never goes back if
 * replicas' clocks differ slightly. One far ahead stays, and counts as now, until what else the
 * clock dated ahead is set right (`isRight`): a crash meanwhile must not hide that it was set back.
 * Returns whether there is such a service heartbeat.
 */
export const writeServiceHeartbeat = commandOf(function* (
  unit,
  rules: RuleOptions,
  { isRight = false } = {},
): Decision<boolean> {
  const { now } = unit
  const serviceHeartbeat = yield* loadRow(unit, "service_heartbeat", "service")
  const outage = lastOutage(serviceHeartbeat, now, rules)
  const isAhead = serviceHeartbeat !== undefined && isFarAhead(serviceHeartbeat.beat_at, now, rules)
  const beat_at =
    serviceHeartbeat === undefined || (isAhead && isRight) ? now : Instant.max(serviceHeartbeat.beat_at, now)
  unit.of("service_heartbeat").put({
    name: "service",
    beat_at,
    outage_began_at: outage?.began_at,
    outage_ended_at: outage?.ended_at,
  })
  return isAhead
})

/** After an outage, agents report recoveries before notifications that waited are sent. */
const OUTAGE_GRACE = Duration.minutes(2)

/** Until when agents may still have to report from an outage (docs/rules.md#holds). */
export const outageGraceAt = (
  serviceHeartbeat: ServiceHeartbeatRecord | undefined,
  now: Instant.Instant,
  staleAfter: Duration.Duration,
): Instant.Instant | undefined => {
  const outage = lastOutage(serviceHeartbeat, now, { staleAfter })
  if (outage?.began_at === undefined) return undefined
  const until = Instant.plus(outage.ended_at, OUTAGE_GRACE)
  return now < until ? until : undefined
}
