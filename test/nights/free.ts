import { causesOf } from "./causesOf.ts"
import type { Named } from "./Named.ts"
import { CHORES, type Facts } from "./Facts.ts"
import type { Row } from "./Row.ts"

/** Rows that end when their receiver is no longer named. */
const ENDING: ReadonlyArray<unknown> = ["ack_ran_out", "reminder", "forced", "step"]

/** Whether the receiver of a held row is still owed it because it came on call. */
export const isComing = ({ onCall }: Facts, { receiver, special }: Row, { rotas }: Named): boolean =>
  (special === "beside" && onCall.isBeside(receiver, rotas)) ||
  // One that stood beside another may have the turn meanwhile.
  ((special === "beside" || special === "handover") &&
    onCall.came(receiver).some((came) => rotas.has(came.rota) && onCall.isHandover(came)))

/** Whether a held row is owed; others wait as `not_owed`. */
export const isOwed = (incident: Facts, row: Row, named: Named): boolean => {
  const { receiver, special } = row
  if (special !== undefined && special !== "handover" && special !== "beside") return true
  return incident.rows.knows(receiver) < incident.severities.announced || isComing(incident, row, named)
}

/** Whether something holds a row that is due. */
const isHeld = (incident: Facts, row: Row, at: number): boolean => {
  const { isAcknowledged, severities, world } = incident
  const isMuted = world.isMuted(incident, at)
  const isQuiet = world.isQuiet(row.receiver, severities.announced, at)
  const isOut = !row.isAtOnce && !isQuiet && world.isOut(at)
  if (isMuted || isOut) incident.noteDue(at)
  if (!isAcknowledged && !isMuted && !isQuiet) return isOut
  row.isAtOnce = false
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

/** A row that is due in the last seconds of a turn may end with it. */
export const endTurns = (incident: Facts, at: number): void => {
  const names = incident.names()
  for (const row of incident.rows.all) {
    if (row.state !== "due" || row.event !== "firing") continue
    const named = names.get(row.receiver)
    // The service may not have evaluated it yet.
    const isNew = row.freedAt + CHORES >= at
    const hasLeft = row.special === "handover" && named !== undefined && !isComing(incident, row, named)
    if (isNew && ((!row.isAtOnce && named === undefined) || hasLeft)) row.isOptional = true
    if (isNew && named !== undefined) row.rotas = new Set([...row.rotas, ...named.rotas])
    if (row.isOptional && row.readyAt + CHORES < at) row.state = "discarded"
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
      if (!ENDING.includes(row.special)) continue
      row.state = "discarded"
      // Its steps page once a route names the receiver again.
      if (row.special === "step") for (const step of row.steps) incident.paged.delete(step)
      continue
    }
    if (row.dueAt > at || !isOwed(incident, row, named) || isHeld(incident, row, at)) continue
    row.causes = causesOf(incident, row, at, named)
    // A reminder that waited has lost its route.
    if (row.special === "reminder" && named.remind === undefined) row.isOptional = true
    row.earlierRotas = new Set([...row.earlierRotas, ...row.rotas])
    row.rotas = named.rotas
    row.rank = incident.rank
    row.states = incident.rank
    row.state = "due"
    row.freedAt = at
    row.readyAt = at
    incident.forced.delete(row.receiver)
    incident.eventOwed.delete(row.receiver)
    // A new row makes a retry before it due at once.
    for (const older of rows.firings(row.receiver)) {
      if (older.state !== "retry" || older.readyAt <= at) continue
      older.readyAt = at
      older.isOptional = row.isOptional
    }
  }
}
