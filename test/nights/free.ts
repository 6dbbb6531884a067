import type { Cause } from "../firings/Story.ts"
import { dueOf } from "./due.ts"
import type { Named } from "./Named.ts"
import { CHORES, type Facts } from "./Facts.ts"
import type { Row } from "./Row.ts"

/** Rows that end when their receiver is no longer named. */
const ENDING: ReadonlyArray<unknown> = ["ack_ran_out", "reminder", "forced", "handover", "beside"]

/** The causes that a row may have that becomes due now. */
const causesOf = (incident: Facts, row: Row, at: number, named: Named): ReadonlyArray<Cause> => {
  const { onCall, rows, severities } = incident
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
      return onCall.came(receiver).some((came) => onCall.isHandover(came)) ? [special, "handover"] : [special]
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
  if (!onCall.isBeside(receiver, named.rotas)) return byRule()
  // One that waited before its receiver stood beside another, or whose receiver knows something, has either cause.
  return knows > 0 || row.written < at - CHORES ? ["escalation", ...byRule()] : ["escalation"]
}

/** Whether something holds a row that is due. */
const isHeld = (incident: Facts, row: Row, at: number): boolean => {
  const { isAcknowledged, severities, world } = incident
  const isMuted = world.isMuted(incident, at)
  if (isMuted && !isAcknowledged) incident.isDueUnderHold = true
  if (isAcknowledged || isMuted || world.isQuiet(row.receiver, severities.announced, at)) {
    row.isAtOnce = false
    return true
  }
  if (row.isAtOnce || !world.isOut(at)) return false
  incident.isDueUnderHold = true
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
  const { rows, severities, world } = incident
  const names = incident.names()
  for (const row of rows.all) {
    if (row.state !== "held" || (world.isEvent && row.batch !== world.batch)) continue
    const named = names.get(row.receiver)
    if (named === undefined) {
      if (ENDING.includes(row.special)) row.state = "discarded"
      continue
    }
    const isOwed = row.special !== undefined || rows.knows(row.receiver) < severities.announced
    if (row.dueAt > at || !isOwed || isHeld(incident, row, at)) continue
    row.causes = causesOf(incident, row, at, named)
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
