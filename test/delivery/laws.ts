import type * as Instant from "@tocsin/contract/formats/Instant"
import { type OutboxRecord, OutboxTransitions } from "@tocsin/core/heart/model/OutboxRecord"
import type { Attempt } from "../service/Receivers.ts"
import type { Service } from "../service/Service.ts"
import type { OutboxMove } from "../service/WatchedStorage.ts"

/** The lease of every process, in seconds. */
const LEASE_SECONDS = 60
const MOST_ATTEMPTS = 14
const OLDEST_SECONDS = 24 * 3_600
const LONGEST_RETRY_AFTER_SECONDS = 3_600
/** Delays before attempts 2…14 (docs/rules.md#delivery). */
const DELAY_SECONDS = [5, 30, 120, 300, 900, 1_800, 3_600, 7_200, 14_400, 14_400, 14_400, 14_400, 14_400]

const secondsBetween = (from: Instant.Instant, to: Instant.Instant): number => Number(to - from) / 1_000_000

const isWaiting = (item: OutboxRecord): boolean => item.state === "pending" || item.state === "retry"
const hasEnded = (item: OutboxRecord): boolean => !isWaiting(item) && item.state !== "sending"

/** The evidence by which the laws judge. */
export interface Evidence {
  readonly service: () => Service
  /** Whether a process is shutting down. */
  readonly isClosing: (client: string) => boolean
}

/**
 * The laws of docs/rules.md#delivery about moves and attempts. `broken` lists violations, in words.
 */
export const deliveryLaws = ({ service, isClosing }: Evidence) => {
  const broken: Array<string> = []
  const leases = new Map<Attempt, Instant.Instant>()
  const judge = (holds: boolean, item: OutboxRecord, words: string): void => {
    if (!holds)
      broken.push(`${item.notifier} ${item.event_type} ${item.incident_seq} of ${item.incident_id}: ${words}`)
  }
  const earlier = (item: OutboxRecord): ReadonlyArray<OutboxRecord> =>
    Array.from(service().rows().outbox.values()).filter(
      (other) =>
        other.incident_id === item.incident_id &&
        other.notifier === item.notifier &&
        other.incident_seq < item.incident_seq,
    )
  const attemptOf = (item: OutboxRecord): Attempt | undefined =>
    service().receivers.attempts.findLast(
      ({ notification }) => notification.id === item.id && notification.attempt === item.attempts,
    )

  const onClaim = (before: OutboxRecord, { after, at }: OutboxMove): void => {
    judge(after.attempts === before.attempts + 1, after, "an attempt was not counted")
    judge(after.attempts <= MOST_ATTEMPTS, after, "attempted too often")
    judge(
      before.next_attempt_at !== undefined && before.next_attempt_at <= at,
      after,
      "claimed before it was due",
    )
    judge(earlier(after).every(hasEnded), after, "claimed before an earlier one had ended")
    const lease = after.leased_until === undefined ? 0 : secondsBetween(at, after.leased_until)
    judge(lease === LEASE_SECONDS, after, `leased for ${lease} s`)
  }

  const onRetry = (before: OutboxRecord, { after, at, client }: OutboxMove): void => {
    const attempt = attemptOf(before)
    const delay = after.next_attempt_at === undefined ? -1 : secondsBetween(at, after.next_attempt_at)
    const scheduled = DELAY_SECONDS[before.attempts - 1] ?? 0
    const isScheduled = delay >= scheduled * 0.8 - 1e-6 && delay <= scheduled * 1.2
    const wasAsked = attempt?.endedAt !== undefined && attempt.answer.outcome === "deferred"
    const asked = Math.min(
      (wasAsked ? attempt.answer.retryAfterSeconds : undefined) ?? 0,
      LONGEST_RETRY_AFTER_SECONDS,
    )
    const isExpired = before.leased_until !== undefined && before.leased_until <= at
    const isReleased = delay === 0 && isClosing(client)
    const isTimely =
      (isScheduled && (delay >= asked || isExpired)) || (asked > 0 && delay === asked) || isReleased
    judge(
      isTimely,
      after,
      `to be retried in ${delay} s after attempt ${before.attempts}, asked for ${asked} s`,
    )
    judge(
      asked < scheduled * 0.8 || delay >= asked || isExpired || isReleased,
      after,
      "Retry-After was ignored",
    )
    judge(before.attempts < MOST_ATTEMPTS, after, "to be retried after the last attempt")
    judge(
      secondsBetween(before.age_starts_at, at) < OLDEST_SECONDS,
      after,
      "to be retried though it is too old",
    )
  }

  const onFailure = (before: OutboxRecord, { after, at }: OutboxMove): void => {
    const isOver =
      before.attempts >= MOST_ATTEMPTS || secondsBetween(before.age_starts_at, at) >= OLDEST_SECONDS
    judge(isOver || attemptOf(before)?.answer.outcome === "refused", after, "failed without a reason")
  }

  const onMove = (move: OutboxMove): void => {
    const { before, after, at, client } = move
    const from = before?.state ?? "absent"
    const leads = (start: string, end: string) =>
      OutboxTransitions.some((row) => row.from === start && row.to === end)
    // An attempt that failed after its agent went makes two moves in one transaction.
    const isAllowed =
      leads(from, after.state) ||
      (from === "sending" &&
        leads(from, "retry") &&
        leads("retry", after.state) &&
        after.state === "discarded")
    judge(isAllowed, after, `went from ${from} to ${after.state}`)
    judge(
      (after.leased_until !== undefined) === (after.state === "sending"),
      after,
      "leased while not sending, or the reverse",
    )
    judge(
      (after.next_attempt_at !== undefined) === isWaiting(after),
      after,
      "due while not waiting, or the reverse",
    )
    judge(
      after.next_evaluation_at === undefined || after.state === "pending",
      after,
      "to be examined, and not pending",
    )
    judge(after.updated_at === at, after, "updated_at is not the time of the move")
    if (before === undefined) return
    const attempt = attemptOf(before)
    if (after.state === "sending") onClaim(before, move)
    if (before.state === "sending" && after.state === "retry") onRetry(before, move)
    if (before.state === "sending" && after.state === "failed") onFailure(before, move)
    if (after.state === "sent") {
      judge(
        attempt?.answer.outcome === "delivered" && attempt.client === client,
        after,
        "sent, and was not delivered",
      )
    }
    if (after.state === "discarded") {
      judge(
        service().rows().incidents.get(after.incident_id)?.state === "resolved",
        after,
        "discarded of an open incident",
      )
      const isKnown = earlier(after).some((item) => item.state !== "failed" && item.state !== "discarded")
      judge(after.event_type === "firing" || !isKnown, after, "a resolved was discarded after a firing")
    }
    if (before.state === "retry" && after.state === "retry")
      judge(after.next_attempt_at === at, after, "not due with the item behind it")
    if (before.state === "failed") {
      judge(
        after.attempts === 0 && after.age_starts_at >= at && after.next_attempt_at === at,
        after,
        "replayed wrongly",
      )
    }
  }

  const onAttempt = (attempt: Attempt): void => {
    const { notification, startedAt, client } = attempt
    const item = service().rows().outbox.get(notification.id)
    if (item === undefined) return void broken.push(`an attempt of an unknown item: ${notification.id}`)
    judge(item.state === "sending", item, `attempted by ${client} while ${item.state}`)
    judge(item.attempts === notification.attempt, item, "attempted with a wrong number")
    judge(earlier(item).every(hasEnded), item, "attempted before an earlier one had ended")
    for (const other of service().receivers.attempts) {
      if (other.notification.id !== item.id || other.endedAt !== undefined) continue
      const isOver = (leases.get(other) ?? startedAt) <= startedAt
      judge(isOver, item, `attempted by ${client} while ${other.client} holds it`)
    }
    if (item.leased_until !== undefined) leases.set(attempt, item.leased_until)
  }

  return { broken, onMove, onAttempt }
}
