import type { Facts } from "./Facts.ts"
import type { Named } from "./Named.ts"

interface Due {
  readonly at: number
  /** Whether a later step tells the receiver. */
  readonly isLater: boolean
  readonly isDelayed: boolean
}

/** When a receiver that knows less than announced is told. */
export const dueOf = (incident: Facts, receiver: string, named: Named): Due => {
  const knows = incident.rows.knows(receiver)
  if (named.first !== undefined && knows > 0) return { at: -Infinity, isLater: false, isDelayed: false }
  let found: Due = { at: Infinity, isLater: false, isDelayed: true }
  for (const rank of incident.severities.above(knows)) {
    const then = incident.names(rank).get(receiver)
    const reached = incident.severities.reached.get(rank) ?? Infinity
    if (then?.first !== undefined && reached + then.first < found.at)
      found = { at: reached + then.first, isLater: false, isDelayed: then.first > 0 }
    for (const delay of then?.later.keys() ?? []) {
      const due = Math.max(reached, incident.beginning) + delay
      if (due < found.at) found = { at: due, isLater: true, isDelayed: true }
    }
  }
  return found
}
