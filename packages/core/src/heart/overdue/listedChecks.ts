import { Duration } from "effect"
import type { CheckId } from "@tocsin/contract/formats/Identifiers"
import * as Instant from "@tocsin/contract/formats/Instant"
import { move } from "@tocsin/contract/formats/TransitionTable"
import { checksOf } from "../../kernel/model/CheckRef.ts"
import type { UnitOfWork } from "../../kernel/unitOfWork/UnitOfWork.ts"
import { type AgentRecord, recountChecks } from "../model/AgentRecord.ts"
import type { CheckRecord } from "../model/CheckRecord.ts"
import {
  type ListedCheckRecord,
  ListedCheckTransitions,
  type WithdrawnSpan,
} from "../model/ListedCheckRecord.ts"

/** How long a check that a list lacks may still report: an agent starts, and others report under its name. */
export const WITHDRAWN_AFTER = Duration.minutes(2)

/** Spans of being withdrawn that a check keeps for its availability. */
const SPANS_KEPT = 100

const MICROS_PER_MILLI = 1_000n

const spansWith = (
  { spans }: ListedCheckRecord,
  check: Partial<Pick<CheckRecord, "withdrawn_at">> | undefined,
  now: Instant.Instant,
): ReadonlyArray<WithdrawnSpan> => {
  if (check?.withdrawn_at === undefined) return spans
  const from_millis = Number(check.withdrawn_at / MICROS_PER_MILLI)
  return [...spans, { from_millis, to_millis: Number(now / MICROS_PER_MILLI) }].slice(-SPANS_KEPT)
}

/** When a check was withdrawn. */
export const spansOf = (
  listed: ListedCheckRecord | undefined,
  check: Partial<Pick<CheckRecord, "withdrawn_at">>,
  until: Instant.Instant,
): ReadonlyArray<{ readonly from: Instant.Instant; readonly to: Instant.Instant }> =>
  listed === undefined
    ? []
    : spansWith(listed, check, until).map(({ from_millis, to_millis }) => ({
        from: Instant.fromMillis(from_millis),
        to: Instant.fromMillis(to_millis),
      }))

/** A withdrawn check is one of its agent's again. Needs its row. */
export const bringBack = (unit: UnitOfWork, listed: ListedCheckRecord, by: "listed" | "reported"): void => {
  const check = unit.checks.get(listed)
  const state = move(ListedCheckTransitions, listed.state, by)
  const spans = spansWith(listed, check, unit.now)
  unit.of("listed_check").put({ ...listed, state, spans, next_evaluation_at: undefined })
  if (check?.withdrawn_at !== undefined) unit.checks.put({ ...check, withdrawn_at: undefined })
}

/** The checks that a list lacks and that an earlier one had. Needs the rows of all listed checks of the agent. */
export const missedChecks = (
  unit: UnitOfWork,
  agent: AgentRecord,
  listed: ReadonlySet<CheckId>,
): ReadonlyArray<ListedCheckRecord> =>
  unit
    .of("listed_check")
    .group(agent.registration_id)
    .filter(({ check_id }) => !listed.has(check_id))

/**
 * Follows a list of all checks of an agent (docs/rules.md#withdrawn-checks). Needs the checks and rows that it names, and
 * those of {@link missedChecks}.
 */
export const followList = (
  unit: UnitOfWork,
  found: AgentRecord,
  listed: ReadonlySet<CheckId>,
  asOf: Instant.Instant,
): void => {
  const table = unit.of("listed_check")
  let agent = found
  for (const ref of checksOf(agent, Array.from(listed))) {
    const before = table.get(ref)
    if (before === undefined) {
      const state = move(ListedCheckTransitions, "absent", "listed")
      table.put({ ...ref, state, next_evaluation_at: undefined, spans: [] })
    } else if (before.state !== "listed") {
      const check = unit.checks.get(ref)
      if (check?.withdrawn_at !== undefined)
        agent = recountChecks(agent, [{ from: undefined, to: check.status }])
      bringBack(unit, before, "listed")
    }
  }
  const due = Instant.plus(unit.now, WITHDRAWN_AFTER)
  for (const before of missedChecks(unit, agent, listed)) {
    if (before.state === "withdrawn") continue
    const state = move(ListedCheckTransitions, before.state, "missed")
    const isWaiting = before.state === "leaving" && !hasReported(unit.checks.get(before), agent)
    table.put({ ...before, state, next_evaluation_at: isWaiting ? before.next_evaluation_at : due })
  }
  unit.putAgent({ ...agent, listed_as_of: asOf })
}

/** Whether a check has a result that was observed after the newest list of its agent. */
export const hasReported = (check: CheckRecord | undefined, { listed_as_of }: AgentRecord): boolean =>
  check !== undefined && listed_as_of !== undefined && check.last_observed_at >= listed_as_of
