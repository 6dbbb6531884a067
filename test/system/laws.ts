import type { HttpAnswer, OutgoingRequest } from "@tocsin/reporting/agent/Answer"
import { AgentKeyTransitions, AgentTransitions } from "@tocsin/core/heart/model/AgentRecord"
import { decodeEventBatchRequest } from "@tocsin/contract/v1/decodeRequest"
import { AgentId } from "@tocsin/contract/formats/Identifiers"
import type { Instant } from "@tocsin/contract/formats/Instant"
import type { Transition } from "@tocsin/contract/formats/TransitionTable"
import type { UnitOfWorkChanges } from "@tocsin/core/kernel/unitOfWork/UnitOfWork"
import { IncidentTransitions } from "@tocsin/core/heart/model/IncidentRecord"
import { type OutboxRecord, OutboxTransitions } from "@tocsin/core/heart/model/OutboxRecord"
import type { MemoryTables } from "@tocsin/adapter-memory/MemoryTables"
import { Result } from "effect"
import type { Attempt } from "../service/Receivers.ts"
import { leads } from "./leads.ts"

/** The evidence by which a commit is judged. */
export interface CommitEvidence {
  /** Whether an operator's request made the command. */
  readonly isAct: boolean
  /** By the storage's clock. */
  readonly now: Instant
  /** Every item, after the commit. */
  readonly outbox: ReadonlyMap<string, OutboxRecord>
  readonly attempts: ReadonlyArray<Attempt>
}

/** An attempt that failed after its agent went makes two moves in one transaction. */
const MOST_MOVES = 2

const stateMoves = (changes: UnitOfWorkChanges): ReadonlyArray<string> => {
  const move = <Row>(
    table: ReadonlyArray<Transition>,
    rows: ReadonlyArray<{ readonly before: Row | undefined; readonly after: Row | undefined }>,
    stateOf: (row: Row) => string,
    nameOf: (row: Row) => string,
  ) =>
    rows.flatMap(({ after, before }) => {
      const [from, to] = [before, after].map((row) => (row === undefined ? "absent" : stateOf(row)))
      const row = after ?? before
      if (row === undefined || from === undefined || to === undefined || from === to) return []
      return leads(table, from, to, MOST_MOVES) ? [] : [`${nameOf(row)} went from ${from} to ${to}`]
    })
  return [
    ...move(
      AgentKeyTransitions,
      changes.agent_key,
      ({ state }) => state,
      ({ key_fingerprint }) => `key ${key_fingerprint}`,
    ),
    ...move(
      AgentTransitions,
      changes.agent,
      ({ admission_state }) => admission_state,
      ({ agent_id }) => `agent ${agent_id}`,
    ),
    ...move(
      IncidentTransitions,
      changes.incident,
      ({ state }) => state,
      ({ incident_key }) => `incident ${incident_key}`,
    ),
    ...move(OutboxTransitions, changes.outbox, ({ state }) => state, nameOfItem),
  ]
}

const nameOfItem = ({ event_type, incident_seq, receiver }: OutboxRecord): string =>
  `${event_type} ${incident_seq} for ${receiver}`

const hasEnded = ({ state }: OutboxRecord): boolean => !["pending", "retry", "sending"].includes(state)

/** The facts of an item that no move changes. */
const identityOf = ({ event_type, incident_id, incident_seq, notifier, receiver }: OutboxRecord): string =>
  [event_type, incident_id, incident_seq, notifier, receiver].join(" ")

/** docs/rules.md#delivery */
const ofItem = (
  before: OutboxRecord,
  after: OutboxRecord,
  { attempts, now, outbox }: CommitEvidence,
): ReadonlyArray<string> => {
  const broken: Array<string> = []
  const judge = (holds: boolean, words: string) =>
    void (holds || broken.push(`${nameOfItem(after)}: ${words}`))
  judge(identityOf(before) === identityOf(after), "changed what it is about")
  judge(
    (after.leased_until !== undefined) === (after.state === "sending"),
    "leased while not sending, or the reverse",
  )
  judge(
    before.first_attempted_at === undefined || after.first_attempted_at === before.first_attempted_at,
    "forgot its first attempt",
  )
  if (before.state !== "sending" && after.state === "sending") {
    judge(after.attempts === before.attempts + 1, "an attempt was not counted")
    const isBehind = Array.from(outbox.values()).some(
      (other) =>
        other.incident_id === after.incident_id &&
        other.receiver === after.receiver &&
        other.incident_seq < after.incident_seq &&
        !hasEnded(other),
    )
    judge(!isBehind, "claimed before an earlier one had ended")
  }
  if (before.state === "sending" && after.state !== "sending") {
    const attempt = attempts.findLast(
      ({ notification }) => notification.id === before.id && notification.attempt === before.attempts,
    )
    const isExpired = before.leased_until !== undefined && before.leased_until <= now
    judge(isExpired || attempt?.endedAt !== undefined, `${after.state} while its attempt is under way`)
    judge(
      after.state !== "sent" || attempt?.answer.outcome === "delivered",
      "sent, and its receiver did not accept it",
    )
    if (attempt?.isAnswered === true && !isExpired)
      for (const words of ofAnswered(attempt, after)) judge(false, words)
  }
  return broken
}

const MICROS_PER_SECOND = 1_000_000n
const LONGEST_WAIT_SECONDS = 3_600

/** An attempt whose answer its sender got in time (docs/rules.md#delivery). */
const ofAnswered = ({ answer, asked }: Attempt, after: OutboxRecord): ReadonlyArray<string> => {
  if (answer.outcome === "delivered") return after.state === "sent" ? [] : [`accepted, and ${after.state}`]
  if (answer.outcome === "refused")
    return after.state === "failed" ? [] : [`refused for good, and ${after.state}`]
  const wait = after.next_attempt_at === undefined ? undefined : after.next_attempt_at - after.updated_at
  const least = BigInt(Math.min(asked ?? 0, LONGEST_WAIT_SECONDS)) * MICROS_PER_SECOND
  const isSooner = wait !== undefined && wait < least
  return isSooner ? [`sent again in ${wait} µs, and its service asked to wait ${asked} s`] : []
}

/** The laws that each commit keeps, whatever happens; the broken ones in words. */
export const lawsOfCommit = (changes: UnitOfWorkChanges, evidence: CommitEvidence): ReadonlyArray<string> => [
  ...stateMoves(changes),
  ...changes.outbox.flatMap(({ after, before }) =>
    before === undefined || after === undefined ? [] : ofItem(before, after, evidence),
  ),
  ...ofAudit(changes, evidence.isAct),
]

/** Each change by an operator writes a row in its transaction; what changes nothing writes none (docs/rules.md#audit). */
const ofAudit = (changes: UnitOfWorkChanges, isAct: boolean): ReadonlyArray<string> => {
  if (!isAct) return changes.audit.some(({ via }) => via !== "system") ? ["an audit row without an act"] : []
  const isChange = Object.entries(changes).some(([name, rows]) => name !== "audit" && rows.length > 0)
  if (isChange === changes.audit.length > 0) return []
  return [isChange ? "a change by an operator without an audit row" : "an audit row without a change"]
}

/** Acknowledged data is in the tables (docs/rules.md#events); the broken promises in words. */
export const lawsOfAnswer = (
  { agentId, body, kind }: OutgoingRequest,
  { status }: HttpAnswer,
  tables: MemoryTables,
): ReadonlyArray<string> => {
  if (status !== 202 || kind === "declaration") return []
  const agent = tables.agents.get(AgentId.make(agentId))
  if (agent === undefined) return [`202 to ${agentId}, of which nothing is stored`]
  if (kind === "heartbeat") return []
  const { events } = Result.getOrThrow(decodeEventBatchRequest(JSON.parse(body)))
  const checks = tables.checks.get(agent.registration_id)
  return events.flatMap(({ check_id, event_id, observed_at, status: reported }) => {
    const check = checks?.get(check_id)
    const isKept =
      check !== undefined &&
      (check.seen_event_ids.includes(event_id)
        ? check.last_observed_at !== observed_at || check.status === reported
        : check.last_observed_at > observed_at)
    return isKept ? [] : [`202 to ${agentId} for ${check_id} ${reported}, which is not stored`]
  })
}
