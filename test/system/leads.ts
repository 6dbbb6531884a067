import type { Transition } from "@tocsin/contract/formats/TransitionTable"

/** Whether a table leads from one state to another in at most so many moves. */
export const leads = (
  table: ReadonlyArray<Transition>,
  from: string,
  to: string,
  longest: number,
): boolean => {
  let reached = new Set([from])
  for (let moves = 0; moves < longest; moves++) {
    reached = new Set(table.flatMap((row) => (reached.has(row.from) ? [row.to] : [])))
    if (reached.has(to)) return true
  }
  return false
}
