import type { HeldOutboxItem } from "@tocsin/client"

/** How far the notification of one receiver is. */
export interface Notified {
  readonly receiver: string
  readonly outcome: "sent" | "failed" | "waiting"
}

type Delivery = Pick<HeldOutboxItem, "receiver" | "event_type" | "state">

const outcomeOf = (state: Delivery["state"]): Notified["outcome"] =>
  state === "sent" || state === "failed" ? state : "waiting"

/**
 * Which receivers were notified that an incident is open, by name. Deliveries come newest first; a
 * receiver that was reached once was notified, whatever became of later messages.
 */
export const notifiedOf = (deliveries: ReadonlyArray<Delivery>): ReadonlyArray<Notified> => {
  const found = new Map<string, Notified["outcome"]>()
  for (const { receiver, event_type, state } of deliveries) {
    if (event_type !== "firing" || state === "discarded") continue
    const before = found.get(receiver)
    if (before === undefined || state === "sent") found.set(receiver, outcomeOf(state))
  }
  return Array.from(found, ([receiver, outcome]) => ({ receiver, outcome })).sort((a, b) =>
    a.receiver < b.receiver ? -1 : 1,
  )
}
