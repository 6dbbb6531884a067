import type { AvailabilityPhase, AvailabilityState, CheckAvailability } from "@tocsin/contract/Availability"
import * as Instant from "@tocsin/contract/Instant"
import type { CheckStatus, Severity } from "@tocsin/contract/Status"

/** A time from one moment until right before another. */
export interface Span {
  readonly from: Instant.Instant
  readonly to: Instant.Instant
}

/** A time in which nothing was known of a check, because of its agent or because it was overdue. */
export interface Silence extends Span {
  readonly isOfAgent?: true
}

/** The facts that decide in which state a check was, in any order but for its changes. */
export interface AvailabilityFacts {
  /** Its changes of status, in the order in which they were stored. */
  readonly changes: ReadonlyArray<{ readonly at: Instant.Instant; readonly status: CheckStatus }>
  /** When nothing was known of it: its agent was dead, or it was overdue. */
  readonly silent: ReadonlyArray<Silence>
  /** When a window covered it, and at which severities; a check without data counts as critical. */
  readonly planned: ReadonlyArray<Span & { readonly covered: ReadonlyArray<Severity> }>
}

/**
 * The phases of a check during a span, without gaps (docs/rules.md#availability). Each begins with a
 * whole second, the same in every span that contains it: a span's phases are those of its parts.
 */
export const phasesOf = (facts: AvailabilityFacts, span: Span): ReadonlyArray<AvailabilityPhase> => {
  const from = Instant.wholeSecond(span.from)
  const to = Instant.wholeSecond(span.to)
  // One sweep over all moments at which something begins or ends.
  const steps: Array<readonly [at: Instant.Instant, apply: () => void]> = []
  let status: CheckStatus | undefined
  let silences = 0
  const windows = new Set<AvailabilityFacts["planned"][number]>()
  const moments: Array<Instant.Instant> = []
  for (const { at } of facts.changes.toReversed()) {
    // A clock that was ahead does not reorder them: a change was no later than the next one.
    const next = moments.at(-1)
    moments.push(next === undefined ? at : Instant.min(at, next))
  }
  for (const [place, { status: changed }] of facts.changes.entries()) {
    const at = moments.at(-1 - place) ?? span.to
    steps.push([Instant.wholeSecond(at), () => (status = changed)])
  }
  for (const silent of facts.silent) {
    steps.push(
      [Instant.wholeSecond(silent.from), () => (silences += 1)],
      [Instant.wholeSecond(silent.to), () => (silences -= 1)],
    )
  }
  for (const window of facts.planned) {
    steps.push([Instant.wholeSecond(window.from), () => windows.add(window)])
    steps.push([Instant.wholeSecond(window.to), () => windows.delete(window)])
  }
  const stateNow = (): AvailabilityState => {
    const state = silences > 0 || status === undefined ? "no_data" : status
    if (state === "ok") return state
    const seen = state === "no_data" ? "critical" : state
    for (const { covered } of windows) if (covered.includes(seen)) return "planned"
    return state
  }
  // Stable: of changes within one second the one that was stored last counts.
  steps.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
  const phases: Array<AvailabilityPhase> = []
  let begun = from
  const endAt = (end: Instant.Instant) => {
    const state = stateNow()
    if (begun < end && phases.at(-1)?.state !== state) phases.push({ from: begun, state })
    begun = Instant.max(begun, end)
  }
  for (const [at, apply] of steps) {
    if (at >= to) break
    endAt(at)
    apply()
  }
  endAt(to)
  return phases
}

/** Sums the phases of a span (docs/rules.md#availability). */
export const sumPhases = (
  phases: ReadonlyArray<AvailabilityPhase>,
  span: Span,
): Pick<CheckAvailability, "from" | "to" | "seconds" | "percent"> => {
  const [from, to] = [Instant.wholeSecond(span.from), Instant.wholeSecond(span.to)]
  const seconds = { ok: 0, warning: 0, critical: 0, unknown: 0, planned: 0, no_data: 0 }
  phases.forEach((phase, n) => {
    seconds[phase.state] += Instant.secondsBetween(phase.from, phases[n + 1]?.from ?? to)
  })
  const judged = seconds.ok + seconds.warning + seconds.critical + seconds.unknown
  // Cut, never rounded: a failure of a second in a year is not 100.
  const percent = judged === 0 ? null : Math.floor((seconds.ok * 100_000) / judged) / 1_000
  return { from, to, seconds, percent }
}
