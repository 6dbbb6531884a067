import type { Named } from "./Named.ts"
import { CHORES, type Facts } from "./Facts.ts"
import { isOwed } from "./free.ts"

const LAST_MINUTE = 60

/** A later step that is due and has not paged its receiver. */
interface DueStep {
  readonly receiver: string
  readonly named: Named
  readonly name: string
  readonly dueAt: number
}

const dueSteps = function* (incident: Facts, at: number): Generator<DueStep> {
  const { onCall, paged, severities } = incident
  for (const [receiver, named] of incident.names()) {
    const ranks = severities.above(0)
    const delaysAt = new Map(ranks.map((rank) => [rank, incident.names(rank).get(receiver)?.later]))
    const cameBy = new Map(onCall.came(receiver).map(({ coming, rota }) => [rota, coming.at]))
    for (const delay of new Set(
      Array.from(delaysAt.values()).flatMap((delays) => Array.from(delays?.keys() ?? [])),
    )) {
      let last = -Infinity
      for (const rank of ranks) {
        const begins = Math.max(severities.reached.get(rank) ?? Infinity, incident.beginning)
        // A beginning before the step of an earlier one was due adds nothing.
        const ways = delaysAt.get(rank)?.get(delay)
        if (ways === undefined || begins < last + delay) continue
        const came = Math.min(...Array.from(ways, (rota) => cameBy.get(rota ?? "") ?? -Infinity))
        last = begins
        const name = `${receiver} ${delay} ${begins}`
        const due = begins + delay
        if (due <= at && due >= came && !paged.has(name)) yield { receiver, named, name, dueAt: due }
      }
    }
  }
}

/** Writes the rows of later steps that are due. */
export const pageSteps = (incident: Facts, at: number): void => {
  const { paged, rows } = incident
  const isHeld = incident.isHeld(at)
  for (const { dueAt, name, named, receiver } of Array.from(dueSteps(incident, at))) {
    const attempts = rows.firings(receiver).map(({ lastAttempt = -Infinity }) => lastAttempt)
    const last = Math.max(...attempts)
    const held = rows.held(receiver)
    const isWaiting = held === undefined ? rows.isWaiting(receiver) : isOwed(incident, held, named)
    // A row that waits, or began less than a minute before or since, stands for the step: nothing is due under a hold.
    const isStoodFor = isWaiting || last > dueAt - LAST_MINUTE + CHORES
    if (isHeld && !isStoodFor) incident.noteDue(at)
    if (isHeld) continue
    paged.add(name)
    if (held !== undefined) held.steps = [...held.steps, name]
    if (isStoodFor) continue
    const row = held ?? incident.write(at, receiver, { rotas: named.rotas })
    row.special = "step"
    row.steps = [...row.steps, name]
    row.dueAt = at
    row.isOptional = last > dueAt - LAST_MINUTE || incident.pagedAhead.has(name)
  }
}
