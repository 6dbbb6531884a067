import type { Named } from "./Named.ts"
import { CHORES, type Facts } from "./Facts.ts"

const LAST_MINUTE = 60

/** A later step that is due and has not paged its receiver. */
interface DueStep {
  readonly receiver: string
  readonly named: Named
  readonly name: string
  /** Whether its moment passed before its route named the receiver. */
  readonly isOptional: boolean
}

const dueSteps = function* (incident: Facts, at: number): Generator<DueStep> {
  const { onCall, paged, severities } = incident
  for (const [receiver, named] of incident.names()) {
    const ranks = severities.above(0)
    const delaysAt = new Map(ranks.map((rank) => [rank, incident.names(rank).get(receiver)?.later]))
    const came = Math.max(
      -Infinity,
      ...onCall.came(receiver).flatMap(({ coming, rota }) => (named.rotas.has(rota) ? [coming.at] : [])),
    )
    for (const delay of new Set(
      Array.from(delaysAt.values()).flatMap((delays) => Array.from(delays ?? [])),
    )) {
      const since = incident.namedSince(`${receiver} ${delay}`, named.later.has(delay), at)
      let last = -Infinity
      for (const rank of ranks) {
        const begins = Math.max(severities.reached.get(rank) ?? Infinity, incident.beginning)
        // A beginning before the step of an earlier one was due adds nothing.
        if (delaysAt.get(rank)?.has(delay) !== true || begins < last + delay) continue
        last = begins
        const name = `${receiver} ${delay} ${begins}`
        const due = begins + delay
        if (due <= at && due >= came && !paged.has(name))
          yield { receiver, named, name, isOptional: since > due }
      }
    }
  }
}

/** Writes the rows of later steps that are due. */
export const pageSteps = (incident: Facts, at: number): void => {
  const { paged, rows } = incident
  const due = Array.from(dueSteps(incident, at))
  if (incident.isHeld(at)) {
    if (due.length > 0 && !incident.isAcknowledged) incident.isDueUnderHold = true
    return
  }
  for (const { isOptional, name, named, receiver } of due) {
    paged.add(name)
    const attempts = rows.firings(receiver).map(({ lastAttempt = -Infinity }) => at - lastAttempt)
    const since = Math.min(...attempts)
    if (rows.isWaiting(receiver) || since < LAST_MINUTE - CHORES) continue
    incident.write(at, receiver, {
      special: "step",
      rotas: named.rotas,
      isOptional: isOptional || since < LAST_MINUTE,
    })
  }
}
