import { Duration } from "effect"
import * as Instant from "@tocsin/contract/Instant"
import type { AlertSource } from "../model/IntegrationRecord.ts"

const MOST_SOURCES = 100

/** Sources are heard to this: hearing one again within it writes nothing. */
const HEARD_TO = Duration.seconds(5)

const MICROS_PER_MILLI = 1_000
const HEARD_TO_MICROS = Duration.toMillis(HEARD_TO) * MICROS_PER_MILLI

const microsOf = (duration: Duration.Duration): number => Duration.toMillis(duration) * MICROS_PER_MILLI

/** The sources after some of them were heard; `undefined` if all were a moment ago. */
export const hear = (
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
