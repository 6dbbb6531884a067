import { Effect } from "effect"
import type {
  AvailabilityPhase,
  AvailabilityState,
  CheckAvailability,
} from "@tocsin/contract/availability/Availability"
import * as Instant from "@tocsin/contract/formats/Instant"
import type { CheckStatus, Severity } from "@tocsin/contract/formats/Status"

/** A time from one moment until right before another. */
export interface Span {
  readonly from: Instant.Instant
  readonly to: Instant.Instant
}

/** A time in which nothing was known of a check, because of its agent or, in earlier versions, because it was late. */
export interface Gap extends Span {
  readonly isOfAgent?: true
  /** Its agent did not run it: a page shows nothing of it. */
  readonly isWithdrawn?: true
}

/** A time from when a check was found late to its next result. */
export interface Late extends Span {
  readonly severity: Severity
}

/** The facts that decide in which state a check was, in any order but for its changes. */
export interface AvailabilityFacts {
  /** Its changes of status, in the order in which they were stored. */
  readonly changes: ReadonlyArray<{ readonly at: Instant.Instant; readonly status: CheckStatus }>
  /** When nothing was known of it: its agent was dead, or an earlier version found it late. */
  readonly silent: ReadonlyArray<Gap>
  /** When it was late, and how bad that was. */
  readonly late: ReadonlyArray<Late>
  /** When a window covered it, and at which severities; a check without data counts as critical. */
  readonly planned: ReadonlyArray<Span & { readonly covered: ReadonlyArray<Severity> }>
}

type Step = readonly [at: Instant.Instant, apply: () => void]

/** Each of these spans is present from its beginning to its end. */
const stepsOf = <S extends Span>(spans: ReadonlyArray<S>, present: Set<S>): ReadonlyArray<Step> =>
  spans.flatMap((span) => [
    [Instant.wholeSecond(span.from), () => present.add(span)] as const,
    [Instant.wholeSecond(span.to), () => present.delete(span)] as const,
  ])

/** Moments that are looked at before other work has its turn: a millisecond or two. */
const PIECE = 1_000

/** The result of work that stops now and then, while results pass at each stop. */
export const inPieces = Effect.fnUntraced(function* <A>(work: Generator<void, A>) {
  let step = work.next()
  while (step.done !== true) {
    yield* Effect.yieldNow
    step = work.next()
  }
  return step.value
})

/**
 * The phases of a check during a span, without gaps (docs/rules.md#availability). Each begins with a
 * whole second, the same in every span that contains it: a span's phases are those of its parts. Stops now and then: a
 * check may have 200,000 changes.
 */
export function* phasesOf(
  facts: AvailabilityFacts,
  span: Span,
): Generator<void, ReadonlyArray<AvailabilityPhase>> {
  return yield* statesOf(facts, span, (state) => state)
}

/** The same, by what a state means; `severity` is how bad it is. */
export function* statesOf<State>(
  facts: AvailabilityFacts,
  span: Span,
  meaningOf: (state: AvailabilityState, severity: Severity) => State,
): Generator<void, ReadonlyArray<{ readonly from: Instant.Instant; readonly state: State }>> {
  const from = Instant.wholeSecond(span.from)
  const to = Instant.wholeSecond(span.to)
  // One sweep over all moments at which something begins or ends.
  const [changes, others]: [Array<Step>, Array<Step>] = [[], []]
  let status: CheckStatus | undefined
  let gaps = 0
  const lateness = new Set<Late>()
  const windows = new Set<AvailabilityFacts["planned"][number]>()
  const moments: Array<Instant.Instant> = []
  for (const { at } of facts.changes.toReversed()) {
    if (moments.length % PIECE === PIECE - 1) yield
    // A clock that was ahead does not reorder them: a change was no later than the next one.
    const next = moments.at(-1)
    moments.push(next === undefined ? at : Instant.min(at, next))
  }
  for (const [place, { status: changed }] of facts.changes.entries()) {
    if (place % PIECE === PIECE - 1) yield
    const at = moments.at(-1 - place) ?? span.to
    changes.push([Instant.wholeSecond(at), () => (status = changed)])
  }
  for (const silent of facts.silent) {
    others.push(
      [Instant.wholeSecond(silent.from), () => (gaps += 1)],
      [Instant.wholeSecond(silent.to), () => (gaps -= 1)],
    )
  }
  others.push(...stepsOf(facts.late, lateness), ...stepsOf(facts.planned, windows))
  const stateNow = (): State => {
    const late = gaps > 0 ? undefined : Array.from(lateness).at(-1)
    const state = gaps > 0 ? "no_data" : late === undefined ? (status ?? "no_data") : "late"
    // Windows compare its severity; nothing known is as bad as can be.
    const seen = late?.severity ?? (state === "warning" || state === "unknown" ? state : "critical")
    if (state === "ok") return meaningOf(state, seen)
    for (const { covered } of windows) if (covered.includes(seen)) return meaningOf("planned", seen)
    return meaningOf(state, seen)
  }
  // Changes are in order: of those within one second the one that was stored last counts.
  others.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
  const phases: Array<{ readonly from: Instant.Instant; readonly state: State }> = []
  let begun = from
  const endAt = (end: Instant.Instant) => {
    const state = stateNow()
    if (begun < end && phases.at(-1)?.state !== state) phases.push({ from: begun, state })
    begun = Instant.max(begun, end)
  }
  const take = ([at, apply]: Step) => {
    if (at >= to) return
    endAt(at)
    apply()
  }
  let next = 0
  const takeBefore = (end: Instant.Instant) => {
    for (let other = others[next]; other !== undefined && other[0] < end; other = others[next]) {
      take(other)
      next += 1
    }
  }
  for (const [place, change] of changes.entries()) {
    if (place % PIECE === PIECE - 1) yield
    takeBefore(change[0])
    take(change)
  }
  takeBefore(to)
  endAt(to)
  return phases
}

/** Cut, never rounded: a failure of a second in a year is not 100. `null` if nothing is judged. */
export const percentOf = (ok: number, judged: number): number | null =>
  judged === 0 ? null : Math.floor((ok * 100_000) / judged) / 1_000

/** Sums the phases of a span (docs/rules.md#availability). */
export const sumPhases = (
  phases: ReadonlyArray<AvailabilityPhase>,
  span: Span,
): Pick<CheckAvailability, "from" | "to" | "seconds" | "percent"> => {
  const [from, to] = [Instant.wholeSecond(span.from), Instant.wholeSecond(span.to)]
  const seconds = { ok: 0, warning: 0, critical: 0, unknown: 0, late: 0, planned: 0, no_data: 0 }
  phases.forEach((phase, n) => {
    seconds[phase.state] += Instant.secondsBetween(phase.from, phases[n + 1]?.from ?? to)
  })
  const judged = seconds.ok + seconds.warning + seconds.critical + seconds.unknown + seconds.late
  return { from, to, seconds, percent: percentOf(seconds.ok, judged) }
}
