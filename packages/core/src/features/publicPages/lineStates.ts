import { Duration } from "effect"
import type { AvailabilityState } from "@tocsin/contract/availability/Availability"
import * as Instant from "@tocsin/contract/formats/Instant"
import { LINE_STATES, type LineState } from "@tocsin/contract/publicPages/PublicPages"
import type { Severity } from "@tocsin/contract/formats/Status"
import { type AvailabilityFacts, type Span, statesOf } from "../../heart/availability/availability.ts"
import type { CheckRecord } from "../../heart/model/CheckRecord.ts"

/** The state on a page of a check in each state (docs/rules.md#public-pages). */
const STATE_OF: Readonly<Record<Exclude<AvailabilityState, "late" | "no_data">, LineState>> = {
  ok: "operational",
  warning: "degraded",
  critical: "down",
  unknown: "down",
  /** A window covers it, and it is not ok. */
  planned: "maintenance",
}

/** The state of a check that is so bad, or has had no data for longer than {@link GRACE}. */
const lineStateOf = (state: AvailabilityState, severity: Severity): LineState =>
  STATE_OF[state === "late" || state === "no_data" ? severity : state]

/** For this long, a check whose agent is dead has the state that it had before. */
export const GRACE = Duration.minutes(5)

/** The worst of these states; none is *no data*. */
export const worstOf = (states: ReadonlySet<LineState>): LineState =>
  LINE_STATES.find((state) => states.has(state)) ?? "no_data"

/** Gaps that touch are one. */
const merged = (silent: ReadonlyArray<Span>): ReadonlyArray<Span> => {
  const spans: Array<Span> = []
  for (const span of silent.toSorted((a, b) => (a.from < b.from ? -1 : a.from > b.from ? 1 : 0))) {
    const last = spans.at(-1)
    if (last === undefined || Instant.wholeSecond(last.to) < Instant.wholeSecond(span.from)) spans.push(span)
    else spans[spans.length - 1] = { from: last.from, to: Instant.max(last.to, span.to) }
  }
  return spans
}

/** Gaps as pages show them: each from the end of its {@link GRACE} on. */
const lasting = (silent: ReadonlyArray<Span>): ReadonlyArray<Span> =>
  merged(silent).flatMap(({ from, to }) => {
    const since = Instant.plus(from, GRACE)
    return since < to ? [{ from: since, to }] : []
  })

/** These spans, but for others. */
const without = (spans: ReadonlyArray<Span>, others: ReadonlyArray<Span>): ReadonlyArray<Span> =>
  others.reduce(
    (left, other) =>
      left.flatMap(({ from, to }) =>
        [
          { from, to: Instant.min(to, other.from) },
          { from: Instant.max(from, other.to), to },
        ].filter((each) => each.from < each.to),
      ),
    spans,
  )

/** From here on, a check is in this state. */
export interface StatePhase {
  readonly from: Instant.Instant
  readonly state: LineState
}

/** The states of a check during a span, without gaps, each from a whole second on. */
export function* statePhasesOf(
  facts: AvailabilityFacts,
  span: Span,
): Generator<void, ReadonlyArray<StatePhase>> {
  const withdrawn = facts.silent.filter(({ isWithdrawn }) => isWithdrawn === true)
  const silent = lasting(facts.silent.filter(({ isWithdrawn }) => isWithdrawn !== true))
  const reported = facts.changes[0]?.at ?? span.to
  const phases: Array<StatePhase> = []
  let at = span.from
  // Silence and windows change nothing before the first result, unless the check is late, and while it is withdrawn.
  for (const known of without(merged([...facts.late, { from: reported, to: span.to }]), withdrawn)) {
    const [from, to] = [Instant.max(known.from, at), Instant.min(known.to, span.to)]
    if (from >= to) continue
    if (at < from) phases.push({ from: Instant.wholeSecond(at), state: "no_data" })
    phases.push(...(yield* statesOf({ ...facts, silent }, { from, to }, lineStateOf)))
    at = to
  }
  if (at < span.to) phases.push({ from: Instant.wholeSecond(at), state: "no_data" })
  return phases
}

/** Since when a check has been silent at the end of its facts, and whether because of its agent. */
export interface OpenGap {
  readonly since: Instant.Instant
  readonly isOfAgent: boolean
}

export const gapAt = (
  { silent }: Pick<AvailabilityFacts, "silent">,
  at: Instant.Instant,
): OpenGap | undefined => {
  const last = merged(silent).at(-1)
  return last === undefined || last.to < at
    ? undefined
    : { since: last.from, isOfAgent: silent.some(({ isOfAgent = false, to }) => isOfAgent && to >= at) }
}

/**
 * The state of a check now, by its row, by how bad it is while it is late, and by its gap at a moment less than
 * {@link GRACE} ago: one that has begun since, or after a result since, does not count yet. Late with an agent that is
 * back, it has none.
 */
export const stateNow = (
  { received_at, status }: Pick<CheckRecord, "received_at" | "status">,
  late: Severity | undefined,
  { at, gap }: { readonly at: Instant.Instant; readonly gap: OpenGap | undefined },
  isCovered: (severity: Severity) => boolean,
  now: Instant.Instant,
): LineState => {
  const isSilent =
    gap !== undefined &&
    received_at <= at &&
    gap.isOfAgent &&
    Instant.wholeSecond(Instant.plus(gap.since, GRACE)) <= Instant.wholeSecond(now)
  const seen = isSilent ? "critical" : (late ?? status)
  return STATE_OF[seen !== "ok" && isCovered(seen) ? "planned" : seen]
}
