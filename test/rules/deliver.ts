import * as Instant from "@tocsin/contract/formats/Instant"
import type { OutboxState } from "@tocsin/contract/formats/Status"
import { discardUnheard } from "@tocsin/core/heart/notifications/recordResults"
import { type OutboxRecord, OutboxTransitions } from "@tocsin/core/heart/model/OutboxRecord"
import { move } from "@tocsin/contract/formats/TransitionTable"
import { type Command, load } from "@tocsin/core/kernel/unitOfWork/Decision"
import { Duration } from "effect"
import type { Rows } from "../service/Rows.ts"
import type { Answer } from "./Scenario.ts"

/** The moves of an outbox item that are not the consequence of an incident's change. */
export type DeliveryTrigger = "claimed" | "delivered" | "deferred" | "refused" | "notifier_gone" | "replayed"

/** The next possible event of an item while it is on its way; `undefined` where there is none. */
export const deliveryTrigger = (
  rows: Rows,
  item: OutboxRecord,
  answer: Answer,
): DeliveryTrigger | undefined => {
  switch (item.state) {
    case "pending":
    case "retry":
      return answer === "notifier_gone" ? answer : "claimed"
    case "sending":
      return answer === "notifier_gone" ? "deferred" : answer
    case "failed": {
      const isOver =
        item.event_type === "firing" && rows.incidents.get(item.incident_id)?.state === "resolved"
      return isOver ? undefined : "replayed"
    }
    case "sent":
    case "discarded":
      return undefined
  }
}

const nextState = (item: OutboxRecord, trigger: DeliveryTrigger): OutboxState | undefined => {
  const { state } = item
  if (state === "pending" || state === "retry") {
    return trigger === "claimed" || trigger === "notifier_gone"
      ? move(OutboxTransitions, state, trigger)
      : undefined
  }
  if (state === "sending") {
    return trigger === "delivered" || trigger === "deferred" || trigger === "refused"
      ? move(OutboxTransitions, state, trigger)
      : undefined
  }
  return state === "failed" && trigger === "replayed" ? move(OutboxTransitions, state, trigger) : undefined
}

const attemptsAfter = ({ attempts }: OutboxRecord, trigger: DeliveryTrigger): number =>
  trigger === "claimed" ? attempts + 1 : trigger === "replayed" ? 0 : attempts

const errorAfter = ({ last_error }: OutboxRecord, trigger: DeliveryTrigger): string | undefined => {
  if (trigger === "deferred" || trigger === "refused") return trigger
  return trigger === "claimed" || trigger === "notifier_gone" ? last_error : undefined
}

const LEASE = Duration.seconds(60)

const moved = (item: OutboxRecord, trigger: DeliveryTrigger, now: Instant.Instant): OutboxRecord => {
  const state = nextState(item, trigger)
  if (state === undefined) throw new Error(`an item that is ${item.state} cannot be ${trigger}`)
  return {
    ...item,
    state,
    attempts: attemptsAfter(item, trigger),
    next_attempt_at: state === "pending" || state === "retry" ? now : undefined,
    leased_until: state === "sending" ? Instant.plus(now, LEASE) : undefined,
    first_attempted_at: trigger === "claimed" ? (item.first_attempted_at ?? now) : item.first_attempted_at,
    age_starts_at: trigger === "replayed" ? now : item.age_starts_at,
    discarded_because: trigger === "notifier_gone" ? trigger : undefined,
    last_error: errorAfter(item, trigger),
    updated_at: now,
  }
}

/** Stands in for delivery: moves an outbox item along its table. */
export const deliver =
  (item: OutboxRecord, trigger: DeliveryTrigger): Command<void> =>
  (unit, now) =>
    (function* () {
      yield* load(unit, { incidents: [item.incident_id] })
      const after = moved(item, trigger, now)
      unit.outbox.put(after)
      if (trigger === "refused") discardUnheard(unit, after, now)
    })()
