import { Effect, Schema } from "effect"
import { StoredCheckResultEvent } from "@tocsin/contract/v1/Resources"
import { NonNegativeInteger } from "@tocsin/contract/formats/Fields"
import { toStoredEvent } from "../../heart/model/CheckRecord.ts"
import type { OpenRows } from "../../kernel/engine/lists/OpenRows.ts"
import type { Storage } from "../../kernel/ports/Storage.ts"
import type { TimeSpan } from "../../kernel/ports/SettledReads.ts"

/** Rows that are read together: with the longest outputs, two megabytes. */
const PIECE = 200

const HistoryPlace = Schema.Tuple([NonNegativeInteger])

const encode = Schema.encodeSync(StoredCheckResultEvent)

/** Stored changes by their numbers, up to the last one that no transaction may still precede. */
export const historyRows = (storage: Storage["Service"]): OpenRows<typeof HistoryPlace.Type> => ({
  place: HistoryPlace,
  open: Effect.fnUntraced(function* (span: TimeSpan, place: typeof HistoryPlace.Type | undefined) {
    const { first, last, settled } = yield* storage.settledHistory(span, place?.[0])
    let after = Math.max(place?.[0] ?? 0, first - 1)
    return Effect.gen(function* () {
      const from = { values: [after], isInclusive: false }
      const query = { list: "history", filter: {}, sort: "stored", direction: "asc" } as const
      const found =
        after >= last ? [] : yield* storage.page({ ...query, from, isBackward: false, limit: PIECE })
      const isEnd = found.length < PIECE || (found.at(-1)?.seq ?? 0) >= last
      after = isEnd ? Math.max(after, settled) : (found.at(-1)?.seq ?? after)
      const rows = found
        .filter((row) => row.seq <= last && row.received_at >= span.from && row.received_at < span.to)
        .map((row) => [encode(toStoredEvent(row)), [row.seq]] as const)
      return { rows, place: [after], isEnd }
    })
  }),
})
