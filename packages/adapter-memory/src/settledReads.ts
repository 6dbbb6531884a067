import type { SettledReads } from "@tocsin/core/kernel/ports/SettledReads"
import { Effect } from "effect"
import type { MemoryTables } from "./MemoryTables.ts"

/** One transaction follows another, so that all rows are settled. */
export const settledReads = ({ history }: MemoryTables): SettledReads<never> => ({
  settledHistory: ({ from, to }, after = 0) =>
    Effect.sync(() => {
      let [first, last, settled] = [0, 0, after]
      for (const { received_at, seq } of history.values()) {
        settled = Math.max(settled, seq)
        if (seq <= after || received_at < from || received_at >= to) continue
        if (first === 0) first = seq
        last = seq
      }
      return { first, last, settled }
    }),
  settledIncidents: Effect.undefined,
})
