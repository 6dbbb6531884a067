import { Duration } from "effect"
import { boundedMillis } from "@tocsin/contract/formats/durationMillis"
import type { IntegrationOptions } from "@tocsin/contract/integrations/Integrations"
import * as Instant from "@tocsin/contract/formats/Instant"
import type { AlertSource, IntegrationRecord } from "./IntegrationRecord.ts"
import type { Reading, Refusal } from "./Report.ts"

/** The durations of options that give none. */
const USUAL = {
  /** How often a source of alerts is heard at least. */
  resend: "5m",
  /** How long after its last report a check that is ok is deleted. */
  forget_after: "24h",
  /** When a heartbeat must be reported again that does not say so. */
  heartbeat_after: "10m",
  /** How long a sender's acknowledgement lasts; zero if none counts. */
  acknowledged_for: "1h",
} as const

export const durationOf = (options: IntegrationOptions, name: keyof typeof USUAL): Duration.Duration =>
  // They are durations by their schema.
  Duration.millis(boundedMillis(options[name] ?? USUAL[name]) ?? 0)

/** When an alert that nothing repeats ends without news; `undefined` if it stays. */
export const lapseOf = ({ lapse_after }: IntegrationOptions): Duration.Duration | undefined =>
  lapse_after === undefined ? undefined : Duration.millis(boundedMillis(lapse_after) ?? 0)

/** Options change: an alert that nothing repeats is looked at again within this. */
const LOOK_AGAIN = Duration.days(1)

/** After which time an alert that nothing repeats is looked at. */
export const lookAfter = (options: IntegrationOptions): Duration.Duration =>
  [durationOf(options, "forget_after"), lapseOf(options) ?? LOOK_AGAIN].reduce(Duration.min, LOOK_AGAIN)

/** When the alert that always fires must be reported again. */
export const watchdogExpects = (options: IntegrationOptions) =>
  ({ by: "within", millis: Duration.toMillis(durationOf(options, "resend")), severity: "critical" }) as const

const MOST_SOURCES = 100

/** Sources are heard to this: hearing one again within it writes nothing. */
const HEARD_TO = Duration.seconds(5)

const MICROS_PER_MILLI = 1_000
const HEARD_TO_MICROS = Duration.toMillis(HEARD_TO) * MICROS_PER_MILLI

const microsOf = (duration: Duration.Duration): number => Duration.toMillis(duration) * MICROS_PER_MILLI

/** The sources after some of them were heard; `undefined` if all were a moment ago. */
const hear = (
  sources: ReadonlyArray<AlertSource>,
  heard: ReadonlyArray<string>,
  resend: Duration.Duration,
  at: Instant.Instant,
): ReadonlyArray<AlertSource> | undefined => {
  const now = Number(at)
  const silentFor = (source: AlertSource): number => now - source.heard_at
  const isFresh = (source: AlertSource | undefined): boolean =>
    source !== undefined && silentFor(source) >= 0 && silentFor(source) < HEARD_TO_MICROS
  const bySource = new Map(sources.map((each) => [each.source, each]))
  if (heard.every((each) => isFresh(bySource.get(each)))) return undefined
  for (const source of heard) {
    const before = bySource.get(source)
    const isSame = before !== undefined && silentFor(before) <= microsOf(resend) + HEARD_TO_MICROS
    const since = isSame ? Math.min(before.since, now) : now
    bySource.set(source, { source, since, heard_at: now })
  }
  return Array.from(bySource.values())
    .toSorted((a, b) => b.heard_at - a.heard_at)
    .slice(0, MOST_SOURCES)
}

/** When an unbroken hearing of a source began; `undefined` while it is silent. */
export const heardSince = (
  source: AlertSource | undefined,
  resend: Duration.Duration,
  now: Instant.Instant,
): Instant.Instant | undefined => {
  if (source === undefined || now > silentFrom(source, resend)) return undefined
  return Instant.min(now, Instant.fromMicros(BigInt(source.since)))
}

/** After when a source that was last heard then counts as silent. */
export const silentFrom = ({ heard_at }: AlertSource, resend: Duration.Duration): Instant.Instant =>
  Instant.plus(Instant.fromMicros(BigInt(heard_at)), Duration.sum(resend, HEARD_TO))

// Limits how often a request writes the integration (docs/rules.md#integrations).
const NOTED_EVERY = Duration.seconds(15)

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
    : hear(integration.sources, reading.heard, durationOf(integration.options, "resend"), now)
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
