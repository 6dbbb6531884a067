import { dueOf } from "./dueOf.ts"
import { CHORES, type Facts } from "./Facts.ts"
import { isComing, isOwed } from "./free.ts"

/** Writes the rows of receivers that know less than announced, or that a worsening owes one whatever they know. */
export const owe = (incident: Facts, at: number): void => {
  const { rows, world } = incident
  for (const [receiver, named] of incident.names()) {
    const isForced = incident.forced.has(receiver)
    const isBehind = rows.knows(receiver) < incident.severities.announced
    if (!isBehind && !isForced) continue
    const due = dueOf(incident, receiver, named)
    const held = rows.held(receiver)
    if (held !== undefined) {
      held.rotas = new Set([...held.rotas, ...named.rotas])
      // A reminder that waits gives way to a worsening.
      if (held.special === "reminder" && named.first !== undefined)
        held.special = isBehind ? undefined : "forced"
      if ((held.special === "handover" || held.special === "beside") && !isComing(incident, held, named))
        held.special = undefined
      // A step that quiet hours hold stays due, unless the steps have begun anew.
      if (held.special === undefined || (held.special === "step" && incident.beginning > held.written))
        held.dueAt = due.at
      continue
    }
    if (!world.hasRoutes && !incident.eventOwed.has(receiver)) continue
    if (rows.firings(receiver).some(({ special, state }) => special === "forced" && state === "due")) continue
    if (named.first === undefined) {
      if (due.at > at) continue
      if (incident.isHeld(at)) {
        incident.noteDue(at)
        incident.waitsUnder.add(receiver)
        continue
      }
    }
    const isForcedAlone = isForced && !isBehind
    // No severity that was announced names it: the text does not say when it is due.
    const isUnstated = !isForcedAlone && due.at === Infinity
    incident.write(at, receiver, {
      dueAt: isForcedAlone || isUnstated ? at : due.at,
      isOptional: isUnstated,
      rotas: named.rotas,
      isAtOnce: isForcedAlone || (!due.isDelayed && !incident.waitsUnder.has(receiver)),
      ...(isForcedAlone && { special: "forced" as const }),
    })
  }
}

/** Writes the handovers of those who came on call. */
export const handOver = (incident: Facts, at: number): void => {
  const { onCall, rows } = incident
  const names = incident.names()
  for (const came of onCall.came()) {
    const { coming, receiver, rota } = came
    const named = names.get(receiver)
    if (coming.isGiven || !onCall.isHandover(came) || !named?.rotas.has(rota)) continue
    // One that knows less is owed a firing as any receiver is.
    if (rows.knows(receiver) < incident.severities.announced) continue
    const isBeside = onCall.isBeside(receiver, named.rotas)
    // A firing that became due at the same moment may have either cause.
    for (const row of rows.firings(receiver))
      if (row.state === "due" && row.id === undefined && row.freedAt + CHORES >= at)
        row.causes = [
          ...row.causes,
          isBeside ? "escalation" : "handover",
          rows.firings(receiver).length === 1 ? "opened" : "worsened",
        ]
    const held = rows.held(receiver)
    // One that was tried keeps its cause. A held row beside it takes this one: the text leaves open whether there is one.
    const isTried = rows.firings(receiver).some(({ state }) => state === "retry")
    if (held === undefined && rows.isWaiting(receiver) && !isTried) continue
    coming.isGiven = true
    if (held?.special === "ack_ran_out" || held?.special === "reminder") continue
    if (held?.special === "again") {
      held.causes = [...held.causes, isBeside ? "escalation" : "handover"]
      continue
    }
    const row = held ?? incident.write(at, receiver, { rotas: named.rotas })
    row.special = isBeside ? "beside" : "handover"
    row.dueAt = coming.at
    row.isOptional ||= coming.isOpen || (held === undefined && isTried)
  }
}

/** Writes the reminders that are due. */
export const remind = (incident: Facts, at: number): void => {
  const { rows, severities } = incident
  for (const [receiver, named] of incident.names()) {
    const { first, remind: after, rotas } = named
    const last = rows.lastAttempt(receiver)
    if (after === undefined || last === undefined || at < last + after) continue
    const knows = rows.knows(receiver)
    const held = rows.held(receiver)
    const isUnderWay = rows.firings(receiver).some(({ state }) => ["due", "sending", "retry"].includes(state))
    if (isUnderWay || knows === 0) continue
    const beginsAnew = held?.special === "step" && held.dueAt > at
    if (held !== undefined && !beginsAnew && isOwed(incident, held, named)) continue
    // The service reminds nobody whom a later step is about to tell more.
    const isOptional = first === undefined && knows < severities.announced
    const name = `${receiver} reminded after ${last}`
    if (isOptional && incident.paged.has(name)) continue
    incident.paged.add(name)
    const row = held ?? incident.write(at, receiver, { rotas })
    row.isOptional = isOptional
    row.special = "reminder"
    row.dueAt = last + after
  }
}
