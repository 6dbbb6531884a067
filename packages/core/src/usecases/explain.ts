import { firstRows } from "../engine/lists/readPage.ts"
import { Effect } from "effect"
import type { AgentRecord } from "../model/AgentRecord.ts"
import type { CheckRecord } from "../model/CheckRecord.ts"
import { clampToNow } from "../model/clampToNow.ts"
import * as Instant from "@tocsin/contract/Instant"
import type { Agent, CheckState, Incident, StoredCheckResultEvent } from "@tocsin/contract/Resources"
import type { AgentStatus } from "@tocsin/contract/Status"
import type { RuleOptions } from "../ports/RuleSettings.ts"
import type { Storage } from "../ports/Storage.ts"
import * as resources from "./toResources.ts"

/** Why a check is in its state. */
export interface Explanation {
  readonly agent: Agent
  readonly check: CheckState
  /** One sentence each, most important first. */
  readonly reasons: ReadonlyArray<string>
  /** When the last applied result arrived, by the server's clock. */
  readonly received_at: Instant.Instant
  /** How long ago that was, in seconds. */
  readonly age_seconds: number
  /**
   * Arrival minus `observed_at` of that result, in seconds: negative if the agent's clock is ahead
   * (docs/rules.md#clocks-in-the-future).
   */
  readonly skew_seconds: number
  /** The result that last changed (status, exit_code); null if retention removed it. */
  readonly last_change: StoredCheckResultEvent | null
  /** The open incident of the check, if any. */
  readonly incident: Incident | null
}

interface Subject {
  readonly agent: AgentRecord
  readonly check: CheckRecord
  readonly rules: RuleOptions
}

const NOTHING_MORE = { members: 0, changes: 0, log: 0, outbox: 0 }
// A larger skew is worth a sentence: results older than the newest one are dropped as late.
const NOTABLE_SKEW_SECONDS = 60

/** Collects what explains a check's state. */
export const explain = Effect.fnUntraced(function* (
  storage: Storage["Service"],
  { agent, check: stored, rules }: Subject,
) {
  const now = yield* Instant.now
  const check = clampToNow(stored, ["received_at"], now)
  const [last] = yield* firstRows(
    storage,
    {
      list: "history",
      filter: { agent_id: check.agent_id, check_id: check.check_id },
      sort: "stored",
      direction: "desc",
    },
    1,
  )
  const timeline =
    check.incident_id === undefined ? undefined : yield* storage.incident(check.incident_id, NOTHING_MORE)
  const context = { rules, serviceHeartbeat: yield* storage.serviceHeartbeat, now }
  const shown = resources.toAgent(agent, context)
  const skew = Instant.secondsBetween(check.last_observed_at, check.received_at)
  const explanation: Explanation = {
    agent: shown,
    check: resources.toCheckState(check),
    reasons: reasons(shown.status, check, last?.event_id, skew),
    received_at: check.received_at,
    age_seconds: Instant.secondsBetween(check.received_at, now),
    skew_seconds: skew,
    last_change: last === undefined ? null : resources.toStoredEvent(last),
    incident: timeline === undefined ? null : resources.toIncident(timeline.incident),
  }
  return explanation
})

const reasons = (
  status: AgentStatus,
  check: CheckRecord,
  lastChangeId: string | undefined,
  skew: number,
): ReadonlyArray<string> => {
  const wasChange = lastChangeId !== undefined && check.seen_event_ids.some((id) => id === lastChangeId)
  const observed = Instant.format(check.last_observed_at)
  return [
    `The newest result, observed at ${observed}, reported ${check.status} with exit code ${check.exit_code}.`,
    wasChange
      ? "It differed from the one before and was stored as a change."
      : "It repeated the one before, so only its time and text were kept.",
    ...(skew < -NOTABLE_SKEW_SECONDS
      ? [
          `The agent's clock was ${Math.round(-skew)} s ahead: results observed before ${observed} are dropped as late. Once its clock is right, reset-clock releases the check.`,
        ]
      : []),
    ...(status === "alive"
      ? []
      : [`The agent is ${status}: no result can have arrived since it was last seen.`]),
    ...(check.incident_id === undefined
      ? []
      : ["It is a member of an open incident, because its status is not ok."]),
  ]
}
