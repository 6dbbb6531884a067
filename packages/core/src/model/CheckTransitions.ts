import type { CheckStatus } from "@tocsin/contract/Status"
import type { Transition } from "@tocsin/contract/TransitionTable"

/** The effect of a check's new status on its incident (docs/rules.md#incidents). */
export type Membership = "none" | "joins" | "worsens" | "improves" | "leaves"

/**
 * A check's status before and after a stored change. Both are equal if only the exit code differs.
 */
export interface CheckTransition extends Transition {
  readonly from: CheckStatus | "absent"
  readonly trigger: `reported_${CheckStatus}`
  readonly to: CheckStatus
  readonly membership: Membership
}

const MOVES = "with another incident key, the check leaves its incident and joins that key's instead"

const EFFECTS: Record<Membership, string> = {
  none: "a history row is stored; no membership changes; the incident's summary may",
  joins: "a history row is stored; the check joins the incident of its key, which opens if it is not open",
  worsens: `a history row is stored; the incident's severity is raised to the check's, if that is higher; ${MOVES}`,
  improves: `a history row is stored; the incident's severity is that of its worst member; ${MOVES}`,
  leaves: "a history row is stored; the check leaves its incident, which resolves when no member is left",
}

const CONDITION = "(status, exit_code) differs, the event is not late and its event_id is not known"

const row = (from: CheckTransition["from"], to: CheckStatus, membership: Membership): CheckTransition => ({
  from,
  trigger: `reported_${to}`,
  condition: CONDITION,
  to,
  membership,
  effects: EFFECTS[membership],
})

/**
 * Transitions of a check (docs/rules.md#events). Severity: critical > unknown
 * > warning.
 */
export const CheckTransitions: ReadonlyArray<CheckTransition> = [
  row("absent", "ok", "none"),
  row("absent", "warning", "joins"),
  row("absent", "unknown", "joins"),
  row("absent", "critical", "joins"),
  row("ok", "ok", "none"),
  row("ok", "warning", "joins"),
  row("ok", "unknown", "joins"),
  row("ok", "critical", "joins"),
  row("warning", "ok", "leaves"),
  row("warning", "warning", "none"),
  row("warning", "unknown", "worsens"),
  row("warning", "critical", "worsens"),
  row("unknown", "ok", "leaves"),
  row("unknown", "warning", "improves"),
  row("unknown", "unknown", "none"),
  row("unknown", "critical", "worsens"),
  row("critical", "ok", "leaves"),
  row("critical", "warning", "improves"),
  row("critical", "unknown", "improves"),
  row("critical", "critical", "none"),
]

const byStatuses = new Map(
  CheckTransitions.map(({ from }) => [
    from,
    new Map(
      CheckTransitions.filter((other) => other.from === from).map((transition) => [
        transition.to,
        transition,
      ]),
    ),
  ]),
)

/** The row of {@link CheckTransitions} for these two statuses. */
export const checkTransition = (from: CheckStatus | "absent", to: CheckStatus): CheckTransition => {
  const transition = byStatuses.get(from)?.get(to)
  if (transition === undefined) throw new Error(`no transition of a check from ${from} to ${to}`)
  return transition
}
