import { Duration, Effect } from "effect"
import * as Instant from "@tocsin/contract/formats/Instant"
import type { NotifierName } from "@tocsin/contract/formats/Status"
import { type Chore, type ChoreServices, isWhole } from "../../kernel/engine/commits/Chore.ts"
import { load, loneCommandOf, type LoneDecision } from "../../kernel/unitOfWork/Decision.ts"
import { find } from "../../kernel/unitOfWork/Search.ts"
import type { UnitOfWork } from "../../kernel/unitOfWork/UnitOfWork.ts"
import { LISTED_FOR, listedReceivers } from "../replicas/listedReceivers.ts"
import { discarded, isBehind, type OutboxRecord } from "../model/OutboxRecord.ts"
import type { Receivers } from "./Receivers.ts"
import { attempted, isSending, LEASE_EXPIRED } from "./recordResults.ts"

/**
 * One bounded piece of discarding items of receivers that no replica has listed for a day
 * (docs/rules.md#discarded-rows). `own` are the receivers of this process. A server of an older
 * version lists nothing, but its receivers are notifiers by their own names, and it touches their
 * items within a day. Returns how many it discarded.
 */
export const discardUnclaimed = loneCommandOf(function* (
  unit,
  own: ReadonlyArray<NotifierName>,
  limit: number,
): LoneDecision<number> {
  const { now } = unit
  yield* load(unit, { groups: { replica: ["all"] } })
  const listed = [...own, ...listedReceivers(unit.of("replica").group("all"), now)]
  const untouchedSince = Instant.minus(now, LISTED_FOR)
  const unclaimed = yield* find("unclaimedOutbox", { listed, untouchedSince, limit })
  yield* load(unit, { incidents: unclaimed.map((item) => item.incident_id) })
  let count = 0
  for (const found of unclaimed) {
    // No process has recorded the end of an expired lease: a retry, or a failure after the last attempt.
    const item =
      isSending(found) && found.leased_until !== undefined
        ? attempted(found, LEASE_EXPIRED, found.leased_until, 0)
        : found
    if (isWaitingItsTurn(unit, item, untouchedSince)) continue
    count += 1
    const isWaiting = item.state === "pending" || item.state === "retry"
    unit.outbox.put(isWaiting ? discarded(item, "notifier_gone", now) : { ...item, updated_at: now })
  }
  return count
})

/**
 * Whether a server of an older version may be at work: an item waits behind an earlier one of its
 * incident and receiver that has been updated since.
 */
const isWaitingItsTurn = (unit: UnitOfWork, item: OutboxRecord, since: Instant.Instant): boolean =>
  item.receiver === item.notifier &&
  unit.outbox.group(item.incident_id).some((other) => isBehind(item, other) && other.updated_at >= since)

const DISCARD_EVERY = Duration.minutes(10)

export const unclaimedChore = (
  { commits, pieces: { rows: limit } }: ChoreServices,
  receivers: Receivers["Service"],
): Chore => ({
  name: "discarding notifications that no replica sends",
  pause: Effect.sleep(DISCARD_EVERY),
  piece: Effect.suspend(() =>
    Effect.map(
      commits.transact(discardUnclaimed(Array.from(receivers.current().keys()), limit)),
      isWhole(limit),
    ),
  ),
})
