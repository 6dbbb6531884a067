import { Duration } from "effect"
import type { AvailabilityPhase, AvailabilityState } from "@tocsin/contract/Availability"
import * as Instant from "@tocsin/contract/Instant"
import { LINE_STATES, type LineState } from "@tocsin/contract/PublicPages"
import type { Severity } from "@tocsin/contract/Status"
import { type AvailabilityFacts, phasesOf, type Span } from "../availability/availability.ts"
import type { CheckRecord } from "../model/CheckRecord.ts"

/** The state on a page of a check in each state (docs/rules.md#public-pages). */
const STATE_OF: Readonly<Record<Exclude<AvailabilityState, "no_data"> | "silent" | "unreported", LineState>> =
  {
    ok: "operational",
    warning: "degraded",
    critical: "down",
    unknown: "down",
    /** A window covers it, and it is not ok. */
    planned: "maintenance",
    /** It has had no data for longer than {@link GRACE}. */
    silent: "down",
    unreported: "no_data",
  }

/** So long, a check without data has the state that it would have with its last result. */
export const GRACE = Duration.minutes(5)

/** The worst of these states; none is *no data*. */
export const worstOf = (states: ReadonlySet<LineState>): LineState =>
  LINE_STATES.find((state) => states.has(state)) ?? "no_data"

/** Silences that touch are one. */
const merged = (silent: ReadonlyArray<Span>): ReadonlyArray<Span> => {
  const spans: Array<Span> = []
  for (const span of silent.toSorted((a, b) => (a.from < b.from ? -1 : a.from > b.from ? 1 : 0))) {
    const last = spans.at(-1)
    if (last === undefined || Instant.wholeSecond(last.to) < Instant.wholeSecond(span.from)) spans.push(span)
    else spans[spans.length - 1] = { from: last.from, to: Instant.max(last.to, span.to) }
  }
  return spans
}

/** Silences as pages show them: each from the end of its {@link GRACE} on. */
const lasting = (silent: ReadonlyArray<Span>): ReadonlyArray<Span> =>
  merged(silent).flatMap(({ from, to }) => {
    const since = Instant.plus(from, GRACE)
    return since < to ? [{ from: since, to }] : []
  })

/** From here on, a check is in this state. */
export interface StatePhase {
  readonly from: Instant.Instant
  readonly state: LineState
}

/** The states of a check during a span, without gaps, each from a whole second on. */
export const statePhasesOf = (facts: AvailabilityFacts, span: Span): ReadonlyArray<StatePhase> => {
  const silent = lasting(facts.silent)
  const reported = facts.changes[0]?.at ?? span.to
  const first = Instant.min(Instant.max(reported, span.from), span.to)
  const phases = phasesOf({ ...facts, silent }, { from: first, to: span.to })
  return [
    // Windows change nothing before the first result.
    ...(span.from < first ? [{ from: Instant.wholeSecond(span.from), state: STATE_OF.unreported }] : []),
    ...phases.map(({ from, state }: AvailabilityPhase) => ({
      from,
      state: STATE_OF[state === "no_data" ? "silent" : state],
    })),
  ]
}

/** Since when a check has been silent at the end of its facts, and whether because of its agent. */
export interface OpenSilence {
  readonly since: Instant.Instant
  readonly isOfAgent: boolean
}

export const silenceAt = (
  { silent }: Pick<AvailabilityFacts, "silent">,
  at: Instant.Instant,
): OpenSilence | undefined => {
  const last = merged(silent).at(-1)
  return last === undefined || last.to < at
    ? undefined
    : { since: last.from, isOfAgent: silent.some(({ isOfAgent = false, to }) => isOfAgent && to >= at) }
}

/**
 * The state of a check now, by its row and by its silence at a moment less than {@link GRACE} ago: one that has begun
 * since, or after a result since, does not count yet.
 */
export const stateNow = (
  {
    overdue_incident_id,
    received_at,
    status,
  }: Pick<CheckRecord, "overdue_incident_id" | "received_at" | "status">,
  { at, silence }: { readonly at: Instant.Instant; readonly silence: OpenSilence | undefined },
  isCovered: (severity: Severity) => boolean,
  now: Instant.Instant,
): LineState => {
  const isSilent =
    silence !== undefined &&
    received_at <= at &&
    (silence.isOfAgent || overdue_incident_id !== undefined) &&
    Instant.wholeSecond(Instant.plus(silence.since, GRACE)) <= Instant.wholeSecond(now)
  const seen = isSilent ? "critical" : status
  if (seen !== "ok" && isCovered(seen)) return STATE_OF.planned
  return STATE_OF[isSilent ? "silent" : status]
}
