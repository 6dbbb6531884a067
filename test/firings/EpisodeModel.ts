import type { Incident, Reach } from "./IncidentModel.ts"
import { lateOf } from "./moments.ts"
import type { nameIn } from "./nameIn.ts"

/** Severities that an incident forgets, and steps that notify, by docs/rules.md alone. */

type Later = ReturnType<typeof nameIn>["later"]

/** How long an incident remembers what it left. */
export const AGAIN_AFTER = 600
/** A step adds no message to one of the last minute. */
const JUST = 60

/** Notes which severities are left as what is announced changes. */
export const fall = ({ announced, fell }: Incident, before: number, at: number): void => {
  for (const rank of [1, 2, 3])
    if (announced >= rank) fell[rank] = undefined
    else if (before >= rank) fell[rank] = at
}

/** Forgets what was left for long enough. Returns whether it may not have been long enough yet. */
export const forget = ({ fell, reached, reaches }: Incident, againAfter: number, now: number): boolean => {
  let isUncertain = false
  // The worse first: what its receivers know becomes the next severity below, which may be forgotten as well.
  for (const rank of [3, 2]) {
    const left = fell[rank]
    const moment = Math.ceil(left ?? Infinity) + againAfter
    if (left === undefined || moment > now) continue
    isUncertain ||= now <= moment + lateOf(left) && lateOf(left) > 0
    fell[rank] = reached[rank] = undefined
    const rows = Array.from(reaches.values(), (reach) => reach.rows).flat()
    for (const row of rows)
      if (row.known === rank && Math.ceil(row.freeAt ?? Infinity) < moment) row.known = rank - 1
  }
  return isUncertain
}

/** Those steps of a receiver that have not notified: once for each delay and beginning. */
const unpaged = ({ paged }: Reach, later: Later): Later =>
  later.filter(({ began, cameAt = -Infinity, delay, due }) => {
    const isNew = Math.ceil(began) >= Math.ceil(paged.get(delay) ?? -Infinity) + delay
    // One whose moment passed before its receiver came on call owes nothing.
    return isNew && Math.ceil(due) >= Math.ceil(cameAt)
  })

/** When the next later step of a receiver notifies, whatever that knows. */
export const pageAt = (reach: Reach, later: Later): number =>
  Math.min(...unpaged(reach, later).map(({ due }) => due))

/** All steps that are due have notified, or have nothing to add. */
export const page = (reach: Reach, later: Later, until: number): void => {
  const due = unpaged(reach, later).filter((step) => Math.ceil(step.due) <= until)
  if (due.length === 0) return
  const paged = new Map(reach.paged)
  // Of two beginnings of which the second came before the step of the first was due, the first one counts.
  for (const { began, delay } of due.toSorted((a, b) => a.began - b.began))
    if (Math.ceil(began) >= Math.ceil(paged.get(delay) ?? -Infinity) + delay) paged.set(delay, began)
  reach.paged = paged
}

/** Whether a step adds nothing, because a firing is on its way or just went out; or that this is uncertain. */
export const isAdded = ({ last, rows }: Reach, due: number): boolean | "uncertain" => {
  if (rows.some(({ state }) => state === "pending" || state === "retry")) return false
  const [edge, begun] = [Math.ceil(due) - JUST, Math.ceil(last)]
  const late = Math.max(lateOf(due), lateOf(last))
  if (late > 0 && Math.abs(edge - begun) <= late) return "uncertain"
  return begun <= edge
}
