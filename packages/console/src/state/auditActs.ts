import type { AuditEntry } from "@tocsin/client"
import { type List, listOf } from "./lists.ts"

/** Actions that one change of the policy records, the one that says the most first. */
const OF_ONE_CHANGE = [
  "receiver.changed",
  "receiver.removed",
  "policy.applied",
  "policy.replaced",
  "secret.stored",
  "secret.removed",
]
const rankOf = ({ action }: AuditEntry): number => OF_ONE_CHANGE.indexOf(action)

/**
 * Whether a row says no more than another one of its change. Clients name their requests, and may give several the same
 * name: only a server puts a policy in force at another moment than the change.
 */
const isWithin = (item: AuditEntry, other: AuditEntry): boolean =>
  item.request_id !== null &&
  item.request_id === other.request_id &&
  item.actor === other.actor &&
  (item.at === other.at || item.action === "policy.replaced") &&
  rankOf(other) >= 0 &&
  rankOf(other) < rankOf(item)

/** Leaves out what a change recorded beside the action that says the most. */
export const oneOfEach = (items: ReadonlyArray<AuditEntry>): ReadonlyArray<AuditEntry> =>
  items.filter((item) => !items.some((other) => isWithin(item, other)))

/** The acts of a query, each in one row. */
export const actsOf = (query: Parameters<typeof listOf>[1], limit?: number): List<AuditEntry> => {
  const all = listOf<AuditEntry>("ops/v1/audit", { ...query, with_titles: true }, limit)
  const read: typeof all.read = async (cursor) => {
    const page = await all.read(cursor)
    return { ...page, items: oneOfEach(page.items) }
  }
  return { ...all, read }
}
