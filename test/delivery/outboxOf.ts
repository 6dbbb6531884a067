import type { OutboxRecord } from "@tocsin/core/notifications/OutboxRecord"
import type { Site } from "./Site.ts"

/** Outbox items in the order of their creation. */
export const itemsOf = ({ watch }: Site): ReadonlyArray<OutboxRecord> => Array.from(watch.items.values())

/** `type state` of each outbox item, in the order of their creation. */
export const statesOf = (site: Site): ReadonlyArray<string> =>
  itemsOf(site).map(({ event_type, state }) => `${event_type} ${state}`)
