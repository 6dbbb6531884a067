import type { Facts } from "./Facts.ts"
import type { Named } from "./Named.ts"

interface Due {
  readonly at: number
  /** Whether a first step tells the receiver, or a later one. */
  readonly isFirst: boolean
  readonly isLater: boolean
  readonly isDelayed: boolean
}

/** When a receiver that knows less than announced is told. */
export const dueOf = (incident: Facts, receiver: string, named: Named): Due => {
  const knows = incident.rows.knows(receiver)
  if (named.first !== undefined && knows > 0)
    return { at: -Infinity, isFirst: true, isLater: false, isDelayed: false }
  let found: Due = { at: Infinity, isFirst: true, isLater: false, isDelayed: true }
  for (const rank of incident.severities.above(knows)) {
    const then = incident.names(rank).get(receiver)
    const reached = incident.severities.reached.get(rank) ?? Infinity
    const first = reached + (then?.first ?? Infinity)
    if (first < found.at) found = { at: first, isFirst: true, isLater: false, isDelayed: then?.first !== 0 }
    // A later step at a milder severity may be due at the same moment.
    else if (first === found.at) found = { ...found, isFirst: true }
    for (const delay of then?.later.keys() ?? []) {
      const due = Math.max(reached, incident.beginning) + delay
      if (due < found.at) found = { at: due, isFirst: false, isLater: true, isDelayed: true }
    }
  }
  return found
}
