import { Result } from "effect"
import { readLine } from "./readLine.ts"
import type { ResultsEntry, SimulationEntry } from "./SimulationEntry.ts"
import type { RefusedLine } from "./SimulationReport.ts"

/** What was read, in the order in which the service received it, and what could not be. */
export interface ReadLines {
  readonly entries: ReadonlyArray<SimulationEntry>
  readonly refused: ReadonlyArray<RefusedLine>
}

const BLANK = /^[\s\uFEFF]*$/

/**
 * Reads lines and orders them by receipt. Those of one moment keep their order; where the input runs from the newest to the
 * oldest, as the API lists history, it is read from its end. (Of single results that all arrived at one moment it cannot be told
 * which way they run: they count as oldest first, where a page of them runs as the API has it.)
 */
export const readLines = (lines: Iterable<unknown>): ReadLines => {
  const read: Array<ReadonlyArray<SimulationEntry>> = []
  const refused: Array<RefusedLine> = []
  let number = 0
  for (const line of lines) {
    number += 1
    if (typeof line === "string" && BLANK.test(line)) continue
    const entries = readLine(line)
    if (Result.isFailure(entries)) refused.push({ line: number, reason: entries.failure })
    else if (entries.success.length > 0) read.push(entries.success)
  }
  const first = read[0]?.[0]
  const last = read.at(-1)?.[0]
  const isNewestFirst = first !== undefined && last !== undefined && first.received_at > last.received_at
  if (isNewestFirst) read.reverse()
  const entries = read.flat().toSorted(byReceipt)
  return { entries: gathered(entries), refused }
}

const byReceipt = (a: SimulationEntry, b: SimulationEntry): number =>
  a.received_at === b.received_at ? 0 : a.received_at < b.received_at ? -1 : 1

/** Rows of the history that one agent sent at one moment were one batch, and are decided as one. */
const gathered = (entries: ReadonlyArray<SimulationEntry>): ReadonlyArray<SimulationEntry> => {
  const batches: Array<SimulationEntry> = []
  let batch: (ResultsEntry & { readonly events: Array<ResultsEntry["events"][number]> }) | undefined
  for (const entry of entries) {
    if (entry.entry !== "results" || !entry.isStored) {
      batches.push(entry)
      batch = undefined
    } else if (batch?.agent_id === entry.agent_id && batch.received_at === entry.received_at) {
      batch.events.push(...entry.events)
    } else {
      batch = { ...entry, events: [...entry.events] }
      batches.push(batch)
    }
  }
  return batches
}
