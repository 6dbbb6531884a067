import type { OutboxRecord } from "@tocsin/core/notifications/OutboxRecord"
import { Effect } from "effect"
import type { Site } from "./Site.ts"

// Far more hops than any chain of fibers here takes until all of them wait.
const HOPS = 200

/** Lets all fibers run until they wait; the clock stands still. */
export const settled: Effect.Effect<void> = Effect.forEach(Array.from({ length: HOPS }), () => Effect.yieldNow, {
  discard: true,
})

/** Outbox items in the order of their creation. */
export const itemsOf = ({ watch }: Site): ReadonlyArray<OutboxRecord> => Array.from(watch.items.values())

/** `type state` of each outbox item, in the order of their creation. */
export const statesOf = (site: Site): ReadonlyArray<string> =>
  itemsOf(site).map(({ event_type, state }) => `${event_type} ${state}`)
