import type { Cause } from "../firings/Story.ts"
import { dueOf } from "./dueOf.ts"
import type { Named } from "./Named.ts"
import { CHORES, type Facts } from "./Facts.ts"
import type { Row } from "./Row.ts"

/** Rows that end when their receiver is no longer named. */
const ENDING: ReadonlyArray<unknown> = ["ack_ran_out", "reminder", "forced"]

/** Whether the receiver of a held row is still owed it because it came on call. */
export const isComing = ({ onCall }: Facts, { receiver, special }: Row, { rotas }: Named): boolean =>
  special === "beside"
    ? onCall.isBeside(receiver, rotas)
    : special === "handover" &&
      onCall.came(receiver).some((came) => rotas.has(came.rota) && onCall.isHandover(came))

/** Whether a held row is owed; others wait as `not_owed`. */
export const isOwed = (incident: Facts, row: Row, named: Named): boolean => {
  const { receiver, special } = row
  if (special !== undefined && special !== "handover" && special !== "beside") return true
  return incident.rows.knows(receiver) < incident.severities.announced || isComing(incident, row, named)
}

/** The causes that a row may have that becomes due now. */
const causesOf = (incident: Facts, row: Row, at: number, named: Named): ReadonlyArray<Cause> => {
  const { onCall, rows, severities, world } = incident
  const { receiver, special } = row
  const knows = rows.knows(receiver)
  const due = dueOf(incident, receiver, named)
  const byRule = (): ReadonlyArray<Cause> => {
    if (knows === 0) return [due.isLater ? "escalation" : "opened"]
    if (!due.isLater) return ["worsened"]
    return due.at >= row.written ? ["escalation"] : ["escalation", "worsened"]
  }
  switch (special) {
    case "ack_ran_out":
    case "reminder":
      return [
        special,
        // While Tocsin is stopped, an acknowledgement may run out before its receiver is named.
        ...(special === "ack_ran_out" && world.isOut(incident.ranOutAt) ? byRule() : []),
        ...(onCall.came(receiver).some((came) => onCall.isHandover(came)) ? (["handover"] as const) : []),
        // The text names both causes for one that stands beside another.
        ...(onCall.isBeside(receiver, named.rotas) ? (["escalation"] as const) : []),
      ]
    case "handover":
      if (knows >= severities.announced) return [special]
      break
    case "again":
      return [...row.causes, knows === 0 ? "opened" : "worsened"]
    case "step":
      return knows < severities.announced && at > row.dueAt + CHORES
        ? ["escalation", "worsened"]
        : ["escalation"]
    case "beside":
      return ["escalation"]
    default:
  }
  if (!onCall.isBeside(receiver, named.rotas))
    return onCall.isBeside(receiver, row.rotas) ? [...byRule(), "escalation"] : byRule()
  // One that waited before its receiver stood beside another, or whose receiver knows something, has either cause.
  return knows > 0 || row.written < at - CHORES ? ["escalation", ...byRule()] : ["escalation"]
}

/** Whether something holds a row that is due. */
const isHeld = (incident: Facts, row: Row, at: number): boolean => {
  const { isAcknowledged, severities, world } = incident
  const isMuted = world.isMuted(incident, at)
  if (isMuted && !isAcknowledged) incident.dueUnder.add("mute")
  if (isAcknowledged || isMuted || world.isQuiet(row.receiver, severities.announced, at)) {
    row.isAtOnce = false
    return true
  }
  if (row.isAtOnce || !world.isOut(at)) return false
  incident.dueUnder.add("outage")
  return true
}

/** A claim that finds a hold makes the row a held one. */
export const holdAgain = (incident: Facts, at: number): void => {
  const { isAcknowledged, rows, severities, world } = incident
  for (const row of rows.all) {
    if (row.state !== "due" || row.event !== "firing" || row.isOptional) continue
    const isQuiet = world.isQuiet(row.receiver, severities.announced, at)
    if (!isAcknowledged && (rows.isBlocked(row) || !(isQuiet || world.isMuted(incident, at)))) continue
    row.state = "held"
    row.freedAt = Infinity
    row.isAtOnce = false
    row.dueAt = Math.min(row.dueAt, at)
  }
}

/** Rows that nothing holds any more become due, and state the present. */
export const free = (incident: Facts, at: number): void => {
  const { rows, world } = incident
  const names = incident.names()
  // A held firing stays so while no loud member is present.
  if (!Array.from(incident.members.values()).some(({ isLoud }) => isLoud)) return
  for (const row of rows.all) {
    if (row.state !== "held" || (world.isEvent && row.batch !== world.batch)) continue
    const named = names.get(row.receiver)
    if (named === undefined) {
      if (ENDING.includes(row.special)) row.state = "discarded"
      continue
    }
    if (row.dueAt > at || !isOwed(incident, row, named) || isHeld(incident, row, at)) continue
    row.causes = causesOf(incident, row, at, named)
    // A reminder that waited has lost its route.
    if (row.special === "reminder" && named.remind === undefined) row.isOptional = true
    row.rotas = new Set([...row.rotas, ...named.rotas])
    row.rank = incident.rank
    row.state = "due"
    row.freedAt = at
    row.readyAt = at
    incident.forced.delete(row.receiver)
    incident.eventOwed.delete(row.receiver)
    // A new row makes a retry before it due at once.
    for (const older of rows.firings(row.receiver))
      if (older.state === "retry") older.readyAt = Math.min(older.readyAt, at)
  }
}
