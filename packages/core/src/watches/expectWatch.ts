import { Duration } from "effect"
import type * as Instant from "@tocsin/contract/Instant"
import type { Decision } from "../engine/unitOfWork/Decision.ts"
import { load } from "../engine/unitOfWork/load.ts"
import type { UnitOfWork } from "../engine/unitOfWork/UnitOfWork.ts"
import type { Incidents } from "../incidents/Incidents.ts"
import type { AgentRecord } from "../model/AgentRecord.ts"
import type { CheckRef } from "../model/CheckRecord.ts"
import type { WatchRecord } from "../model/WatchRecord.ts"
import { expectCheck, withdrawExpectation } from "../overdue/changeExpectation.ts"
import { isDeclared } from "../overdue/followPolicy.ts"
import { completeTerms } from "../policy/decideTerms.ts"
import { HOLD_FOR } from "./cutOff.ts"

interface Expecting {
  readonly agent: AgentRecord
  readonly watch: WatchRecord
  readonly incidents: Incidents
  readonly staleAfter: Duration.Duration
}

/** A whole period late, with as many results unconfirmed, or held back, as may be. */
const longestSilence = ({ confirm, every_millis }: WatchRecord): Duration.Duration =>
  Duration.sum(Duration.millis(every_millis * (Math.max(confirm.bad, confirm.good) + 2)), HOLD_FOR)

/** Loads the check of a watch with its expectation, and returns its reference. */
function* loadExpected(
  unit: UnitOfWork,
  { agent: { agent_id, registration_id }, watch }: Pick<Expecting, "agent" | "watch">,
): Decision<CheckRef> {
  const ref = { agent_id, registration_id, check_id: watch.name }
  yield* load(unit, { checks: { agent_id, check_ids: [watch.name] }, rows: { expectation: [ref] } })
  return ref
}

/** Expects results of a watch: without any, its check becomes overdue. */
export function* expectWatch(
  unit: UnitOfWork,
  now: Instant.Instant,
  { agent, incidents, staleAfter, watch }: Expecting,
): Decision<void> {
  const ref = yield* loadExpected(unit, { agent, watch })
  const every = Duration.millis(watch.every_millis)
  const terms = completeTerms(
    { every, after: longestSilence(watch), notifications_enabled: true },
    staleAfter,
  )
  yield* expectCheck(unit, incidents, { ref, origin: "agent", terms, now })
}

/** Expects no results of a watch that is paused. */
export function* unexpectWatch(
  unit: UnitOfWork,
  { agent, incidents, watch }: Pick<Expecting, "agent" | "incidents" | "watch">,
): Decision<void> {
  const expectation = unit.expectations.get(yield* loadExpected(unit, { agent, watch }))
  if (isDeclared(expectation)) yield* withdrawExpectation(unit, incidents, expectation)
}
