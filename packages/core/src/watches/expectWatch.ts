import { Duration } from "effect"
import type * as Instant from "@tocsin/contract/Instant"
import type { Decision } from "../engine/unitOfWork/Decision.ts"
import { load } from "../engine/unitOfWork/load.ts"
import type { UnitOfWork } from "../engine/unitOfWork/UnitOfWork.ts"
import type { Incidents } from "../incidents/Incidents.ts"
import type { AgentRecord } from "../model/AgentRecord.ts"
import type { WatchRecord } from "../model/WatchRecord.ts"
import { hasTerms } from "../model/ExpectationRecord.ts"
import { expectCheck, withdrawExpectation } from "../overdue/changeExpectation.ts"
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

const refOf = ({ agent, watch }: Pick<Expecting, "agent" | "watch">) => ({
  agent_id: agent.agent_id,
  registration_id: agent.registration_id,
  check_id: watch.name,
})

/** Expects results of a watch: without any, its check becomes overdue. */
export function* expectWatch(
  unit: UnitOfWork,
  now: Instant.Instant,
  { agent, incidents, staleAfter, watch }: Expecting,
): Decision<void> {
  const ref = refOf({ agent, watch })
  const check_ids = [watch.name]
  yield* load(unit, { checks: { agent_id: agent.agent_id, check_ids }, rows: { expectation: [ref] } })
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
  const ref = refOf({ agent, watch })
  const check_ids = [watch.name]
  yield* load(unit, { checks: { agent_id: agent.agent_id, check_ids }, rows: { expectation: [ref] } })
  const expectation = unit.expectations.get(ref)
  if (hasTerms(expectation) && expectation.origin === "agent")
    yield* withdrawExpectation(unit, incidents, expectation)
}
