import { Effect } from "effect"
import * as Instant from "@tocsin/contract/formats/Instant"
import { firstRows } from "../../kernel/engine/lists/readPage.ts"
import { noSuch } from "../../kernel/engine/OperationErrors.ts"
import { clampToNow } from "../../kernel/model/clampToNow.ts"
import type { RuleOptions } from "../../kernel/ports/RuleSettings.ts"
import type { Storage, StorageError } from "../../kernel/ports/Storage.ts"
import { agentNotFound } from "../admission/AdmissionErrors.ts"
import { toTitledAgent } from "../liveness/agentStatus.ts"
import type { AgentRecord } from "../model/AgentRecord.ts"
import type { CheckLabelRecord } from "../model/CheckLabelRecord.ts"
import { type CheckRecord, toStoredEvent } from "../model/CheckRecord.ts"
import type { CheckName, CheckRef } from "../../kernel/model/CheckRef.ts"
import type { ExpectationRecord } from "../model/ExpectationRecord.ts"
import { expectationText, termsText } from "../overdue/expectationText.ts"
import { holdingChecks, type HoldingPorts } from "./heldChecks.ts"
import { toExpectedCheck } from "../overdue/expectedChecks.ts"
import type { OperationPorts } from "./operationPorts.ts"
import { toIncident } from "./shownIncidents.ts"

interface Subject {
  readonly agent: AgentRecord
  readonly name: CheckName
  /** Absent if it never reported. */
  readonly check: CheckRecord | undefined
  readonly expectation: ExpectationRecord | undefined
  readonly label: CheckLabelRecord | undefined
  readonly rules: RuleOptions
  /** The sentences of a feature about a check without a result. */
  readonly more: ReadonlyArray<string>
}

const NOTHING_MORE = { members: 0, changes: 0, log: 0, outbox: 0 }
// A larger skew is worth a sentence: results older than the newest one are dropped as late.
const NOTABLE_SKEW_SECONDS = 60

const explain = Effect.fnUntraced(function* (storage: Storage["Service"], subject: Subject) {
  const { agent, expectation, label, more, name, rules } = subject
  const now = yield* Instant.now
  const check = subject.check && clampToNow(subject.check, ["received_at"], now)
  const incident_id = check?.incident_id ?? expectation?.incident_id
  const timeline = incident_id === undefined ? undefined : yield* storage.incident(incident_id, NOTHING_MORE)
  const context = { rules, serviceHeartbeat: yield* storage.serviceHeartbeat, now }
  const shownAgent = toTitledAgent(agent, context)
  const shown = toExpectedCheck(name, check, expectation, label)
  const expected =
    expectation === undefined
      ? []
      : [expectationText(expectation, check?.received_at, now), termsText(expectation.terms)]
  const newest = check && (yield* explainNewest(storage, check))
  return {
    agent: shownAgent,
    check: shown,
    /** One sentence each, most important first. */
    reasons: [
      ...(shown.state === "late" ? expected : []),
      ...(check?.withdrawn_at === undefined
        ? []
        : [
            `Its agent no longer runs it, so it was withdrawn at ${Instant.momentText(check.withdrawn_at)}. A new result brings it back.`,
          ]),
      ...more,
      ...(newest?.reasons ?? []),
      ...(shown.state === "late" ? [] : expected),
      ...(shownAgent.status === "alive"
        ? []
        : [`The agent is ${shownAgent.status}: no result can have arrived since it was last seen.`]),
      ...(check?.incident_id === undefined
        ? []
        : ["It is a member of an open incident, because its status is not ok."]),
      ...(expectation?.incident_id === undefined
        ? []
        : ["It is a member of an open incident, because it is late."]),
    ],
    /** When the last applied result arrived, by the server's clock; `age_seconds` ago. */
    received_at: check?.received_at ?? null,
    age_seconds: check === undefined ? null : Instant.secondsBetween(check.received_at, now),
    /** Negative if the agent's clock is ahead (docs/rules.md#clocks-in-the-future). */
    skew_seconds: newest?.skew_seconds ?? null,
    last_change: newest?.last_change ?? null,
    incident: timeline === undefined ? null : toIncident(timeline.incident),
  }
})

/** How the newest result of a check relates to the stored changes. */
const CHANGES = {
  first: "It was stored as a change, the first one that is known.",
  later: "It differed from the one before and was stored as a change.",
  none: "It repeated the one before, so only its time and text were kept.",
}

/** The newest result of a check, and what changed with it. */
const explainNewest = Effect.fnUntraced(function* (storage: Storage["Service"], check: CheckRecord) {
  const { agent_id, check_id } = check
  const query = { list: "history", sort: "stored", direction: "desc" } as const
  const [last, former] = yield* firstRows(storage, { ...query, filter: { agent_id, check_id } }, 2)
  const isChange = last !== undefined && check.seen_event_ids.some((id) => id === last.event_id)
  const change = isChange ? (former === undefined ? "first" : "later") : "none"
  const skew = Instant.secondsBetween(check.last_observed_at, check.received_at)
  const observed = Instant.momentText(check.last_observed_at)
  return {
    reasons: [
      `The newest result, observed at ${observed}, reported ${check.status} with exit code ${check.exit_code}.`,
      CHANGES[change],
      ...(skew < -NOTABLE_SKEW_SECONDS
        ? [
            `The agent's clock was ${Math.round(-skew)} s ahead: results observed before ${observed} are dropped as late. Once its clock is right, reset-clock releases the check.`,
          ]
        : []),
    ],
    skew_seconds: skew,
    /** The result that last changed (status, exit_code); null if retention removed it. */
    last_change: last === undefined ? null : toStoredEvent(last),
  }
})

/** One check with all that is stored of it, in sentences; `reasonsOf` has those of features. */
export const explainOperations = (
  { rules, storage, ...ports }: HoldingPorts & Pick<OperationPorts, "rules">,
  reasonsOf: (ref: CheckRef, hasReported: boolean) => Effect.Effect<ReadonlyArray<string>, StorageError>,
) => ({
  explain: Effect.fn("Operations.explain")(function* (name: CheckName) {
    const agent = yield* storage.agent(name.agent_id)
    if (agent === undefined) return yield* agentNotFound()
    const check = yield* storage.check(name.agent_id, name.check_id)
    const ref = { ...name, registration_id: agent.registration_id }
    const [expectation] = yield* storage.rows("expectation", [ref])
    const more = yield* reasonsOf(ref, check !== undefined)
    if (check === undefined && expectation === undefined && more.length === 0)
      return yield* noSuch("check_of_agent")
    const [label] = yield* storage.rows("check_label", [ref])
    const explained = yield* explain(storage, { agent, name, check, expectation, label, more, rules })
    const [held] = yield* holdingChecks({ ...ports, storage })([explained.check])
    return { ...explained, check: held ?? { ...explained.check, held_by: [] } }
  }),
})
