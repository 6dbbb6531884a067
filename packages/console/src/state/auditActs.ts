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

/** Leaves out what a request recorded beside the action that says the most. */
export const oneOfEach = (items: ReadonlyArray<AuditEntry>): ReadonlyArray<AuditEntry> =>
  items.filter(
    (item) =>
      item.request_id === null ||
      !items.some(
        (other) => other.request_id === item.request_id && rankOf(other) >= 0 && rankOf(other) < rankOf(item),
      ),
  )

/** The acts of a query, each in one row. */
export const actsOf = (query: Parameters<typeof listOf>[1]): List<AuditEntry> => {
  const all = listOf<AuditEntry>("ops/v1/audit", query)
  const read: typeof all.read = async (cursor) => {
    const page = await all.read(cursor)
    return { ...page, items: oneOfEach(page.items) }
  }
  return { ...all, read }
}
