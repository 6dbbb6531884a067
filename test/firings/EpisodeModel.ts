import type { Incident, Reach } from "./IncidentModel.ts"
import { lateOf } from "./moments.ts"
import type { nameIn } from "./nameIn.ts"

/** Severities that an incident forgets, and steps that notify, by docs/rules.md alone. */

type Later = ReturnType<typeof nameIn>["later"]

/** How long an incident remembers what it left. */
export const AGAIN_AFTER = 600
/** A step adds no message to one of the last minute. */
const JUST = 60

/** Notes below which severities is what is announced, as it changes: those above the first one from then on. */
export const fall = ({ announced, fell }: Incident, before: number, at: number): void => {
  for (const rank of [1, 2, 3])
    if (announced >= rank) fell[rank] = undefined
    else if (before >= rank || (before === 0 && announced > 0)) fell[rank] = at
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

/** Without those of a beginning before the step of an earlier one was due: they add nothing for their delay. */
export const distinct = ({ over }: Reach, later: Later): Later => {
  const kept: Array<Later[number]> = []
  for (const step of later.toSorted((a, b) => a.began - b.began)) {
    const began = Math.ceil(step.began)
    const before = over.get(step.delay)
    const isBefore = ({ began: earlier, delay }: Later[number]) =>
      delay === step.delay &&
      Math.ceil(earlier) < began &&
      began < Math.ceil(earlier) + delay &&
      !(before?.began === earlier && before.at <= began)
    if (!kept.some(isBefore)) kept.push(step)
  }
  return later.filter((step) => kept.includes(step))
}

/** Those steps of a receiver that have not notified: once for each delay and beginning. */
const unpaged = (reach: Reach, later: Later): Later =>
  distinct(reach, later).filter(
    ({ began, delay }) => Math.ceil(began) >= Math.ceil(reach.paged.get(delay) ?? -Infinity) + delay,
  )

/** Without those whose moment passed before their receiver came on call: they owe nothing. */
const owing = (reach: Reach, later: Later): Later =>
  unpaged(reach, later).filter(({ cameAt = -Infinity, due }) => Math.ceil(due) >= Math.ceil(cameAt))

/** When the next later step of a receiver notifies, whatever that knows. */
export const pageAt = (reach: Reach, later: Later): number =>
  Math.min(...owing(reach, later).map(({ due }) => due))

/** All steps that are due have notified, or have nothing to add, because another firing `stands` for them. */
export const page = (reach: Reach, later: Later, until: number, stands = false): void => {
  const due = unpaged(reach, later).filter((step) => Math.ceil(step.due) <= until)
  if (due.length === 0) return
  const paged = new Map(reach.paged)
  // Of two beginnings of which the second came before the step of the first was due, the first one counts.
  for (const { began, delay } of due.toSorted((a, b) => a.began - b.began))
    if (Math.ceil(began) >= Math.ceil(paged.get(delay) ?? -Infinity) + delay) paged.set(delay, began)
  reach.paged = paged
  const delays = due.map(({ delay }) => delay)
  const others = Array.from(reach.stood).filter((delay) => !delays.includes(delay))
  reach.stood = new Set([...others, ...(stands ? delays : [])])
}

/** When the first step was due that adds a firing, if one does; or that this is uncertain. */
export const adding = (reach: Reach, later: Later, until: number): number | "uncertain" | undefined => {
  const due = owing(reach, later).flatMap((step) => (Math.ceil(step.due) <= until ? step.due : []))
  const added = due.map((at) => ({ at, adds: isAdded(reach, at) }))
  if (added.some(({ adds }) => adds === "uncertain")) return "uncertain"
  const [first] = added.flatMap(({ adds, at }) => (adds === true ? at : [])).toSorted((a, b) => a - b)
  return first
}

/**
 * After a clock was set back: what began ahead of it begins now, and its steps notify again. A step that notified, and
 * whose moment comes once more, does not, and does not keep those of a later beginning from it. One for which another
 * firing stood has not notified.
 */
export const beginAnew = (reach: Reach, now: number): void => {
  const isOnceMore = (delay: number, began: number) => began <= now && now < began + delay
  const over = Array.from(reach.paged).filter(
    ([delay, began]) => isOnceMore(delay, began) && !reach.stood.has(delay),
  )
  reach.over = new Map([...reach.over, ...over.map(([delay, began]) => [delay, { began, at: now }] as const)])
  const left = (paged: Reach["paged"]) =>
    new Map(
      Array.from(paged)
        .filter(([delay, began]) => began <= now && !(isOnceMore(delay, began) && reach.stood.has(delay)))
        .map(([delay, began]) => [delay, isOnceMore(delay, began) ? began - delay + 1 : began]),
    )
  reach.paged = left(reach.paged)
  for (const row of reach.rows) if (row.pagedBefore !== undefined) row.pagedBefore = left(row.pagedBefore)
}

/** Whether a step adds a firing, because none is on its way or just went out; or that this is uncertain. */
const isAdded = ({ last, rows }: Reach, due: number): boolean | "uncertain" => {
  if (rows.some(({ state }) => state === "pending" || state === "retry")) return false
  const [edge, begun] = [Math.ceil(due) - JUST, Math.ceil(last)]
  const late = Math.max(lateOf(due), lateOf(last))
  if (late > 0 && Math.abs(edge - begun) <= late) return "uncertain"
  return begun <= edge
}
