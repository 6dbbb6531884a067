import type { Duration } from "effect"
import * as Instant from "../contract/Instant.ts"
import type { NotifierName } from "../contract/Status.ts"
import { move } from "../engine/TransitionTable.ts"
import type { Command } from "../engine/workspace/Decision.ts"
import type { IncidentRecord } from "../incidents/IncidentRecord.ts"
import { type DeliveryAttempt, incidentFacts } from "./DeliveryAttempt.ts"
import type { OutboxRecord } from "./OutboxRecord.ts"
import { OutboxTransitions } from "./OutboxTransitions.ts"
import { attempted, type Claim, isSending, LEASE_EXPIRED } from "./settleAttempt.ts"

/** What a worker claims. */
export interface ClaimInput {
  readonly notifiers: ReadonlyArray<NotifierName>
  readonly limit: number
  /** Where more items than this are due, the claim takes them for a digest, up to {@link MOST_IN_DIGEST}. */
  readonly digestOver?: number | undefined
  /** How long the claim holds, by the storage's clock (SERVICE_DELIVERY_LEASE). */
  readonly lease: Duration.Duration
  /** A random number from 0 up to 1, for the delays of items whose lease has expired. */
  readonly random: number
}

/** One message about more is read by nobody. */
const MOST_IN_DIGEST = 100

/** A claimed item, and the notification to send. */
export interface ClaimedItem {
  readonly claim: Claim
  readonly notification: DeliveryAttempt
}

/**
 * Claims outbox items that are due: each becomes `sending` for this worker until its lease ends.
 * First ends the attempts whose lease has expired: they are retried, or failed
 * (docs/rules.md#delivery).
 */
export const claimOutbox = (input: ClaimInput): Command<ReadonlyArray<ClaimedItem>> =>
  function* (workspace, now) {
    const { digestOver, notifiers } = input
    const limit = digestOver === undefined ? input.limit : Math.max(input.limit, MOST_IN_DIGEST)
    yield { claimableOutbox: { notifiers, limit } }
    const { claimableOutbox, expiredOutbox, storageTime } = workspace.found
    if (storageTime === undefined) throw new Error("the storage did not tell its time")
    for (const item of expiredOutbox) {
      if (!isSending(item)) throw new Error(`outbox item ${item.id} has a lease and is not being sent`)
      workspace.outbox.put(attempted(item, LEASE_EXPIRED, now, input.random))
    }
    const leased_until = Instant.plus(storageTime, input.lease)
    const isDigest = digestOver !== undefined && claimableOutbox.length > digestOver
    return (isDigest ? claimableOutbox : claimableOutbox.slice(0, input.limit)).map(({ row, incident }) => {
      const item = claimed(row, leased_until, now)
      workspace.outbox.put(item)
      const { id, notifier, incident_id } = item
      return {
        claim: { id, notifier, incident_id, leased_until },
        notification: toNotification(item, incident, row.next_attempt_at ?? now),
      }
    })
  }

const claimed = (item: OutboxRecord, leased_until: Instant.Instant, now: Instant.Instant): OutboxRecord => {
  if (item.state !== "pending" && item.state !== "retry")
    throw new Error(`outbox item ${item.id} is not waiting`)
  return {
    ...item,
    state: move(OutboxTransitions, item.state, "claimed"),
    attempts: item.attempts + 1,
    first_attempted_at: item.first_attempted_at ?? now,
    leased_until,
    next_attempt_at: undefined,
    updated_at: now,
  }
}

const toNotification = (
  item: OutboxRecord,
  incident: IncidentRecord,
  due_at: Instant.Instant,
): DeliveryAttempt => ({
  id: item.id,
  receiver: item.receiver,
  notifier: item.notifier,
  event_type: item.event_type,
  cause: item.cause,
  severity: item.severity,
  summary: item.summary,
  created_at: item.created_at,
  counts_from: item.counts_from,
  due_at,
  attempt: item.attempts,
  incident: incidentFacts(incident),
})
