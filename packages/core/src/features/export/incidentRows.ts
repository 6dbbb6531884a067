import { Effect, Schema } from "effect"
import { IncidentId } from "@tocsin/contract/formats/Identifiers"
import * as Instant from "@tocsin/contract/formats/Instant"
import type { IncidentRecord } from "../../heart/model/IncidentRecord.ts"
import type { ListFilters, ListSort } from "../../lists/ListDefinitions.ts"
import type { OpenRows, PlacedRows } from "../../kernel/engine/lists/OpenRows.ts"
import type { Storage, StorageError } from "../../kernel/ports/Storage.ts"
import type { TimeSpan } from "../../kernel/ports/SettledReads.ts"

const PIECE = 100

/** A moment and an incident behind which rows of one order are read; both empty at the first. */
const At = Schema.String.check(Schema.isPattern(/^(?:-?\d{1,17})?$/u))
const Id = Schema.Union([IncidentId, Schema.Literal("")])

/** Behind which incident the order of openings is read, and behind which that of resolutions. */
const IncidentPlace = Schema.Tuple([At, Id, At, Id])
type IncidentPlace = typeof IncidentPlace.Type

/** Incidents as they are on the wire, in the order of their rows. */
export type ShowIncidents = (
  rows: ReadonlyArray<IncidentRecord>,
) => Effect.Effect<ReadonlyArray<object>, StorageError>

/** Incidents as they are shown: in the order of their openings, then those that opened before, as they resolved. */
export const incidentRows = (storage: Storage["Service"], show: ShowIncidents): OpenRows<IncidentPlace> => ({
  place: IncidentPlace,
  open: Effect.fnUntraced(function* (span: TimeSpan, begun: IncidentPlace | undefined) {
    const settled = yield* storage.settledIncidents
    const { from } = span
    const to = settled === undefined ? span.to : Instant.min(span.to, settled)
    const page = (
      filter: ListFilters["incidents"],
      sort: ListSort<"incidents">,
      [at, id]: readonly [string, string],
    ) =>
      to <= from
        ? Effect.succeed([])
        : storage.page({
            list: "incidents",
            filter: { ...filter, from, to },
            sort,
            direction: "asc",
            from: at === "" ? undefined : { values: [BigInt(at), id], isInclusive: false },
            isBackward: false,
            limit: PIECE,
          })
    let place: IncidentPlace = begun ?? ["", "", "", ""]
    const piece = Effect.fnUntraced(function* (
      rows: ReadonlyArray<IncidentRecord>,
      placeOf: (row: IncidentRecord) => IncidentPlace,
      isEnd: boolean,
    ): Effect.fn.Return<PlacedRows, StorageError> {
      const shown = yield* show(rows)
      return { rows: rows.map((row, n) => [shown[n] ?? {}, placeOf(row)] as const), place, isEnd }
    })
    return Effect.gen(function* () {
      const [openedAt, opened, resolvedAt, resolved] = place
      const openings = yield* page({}, "opened_at", [openedAt, opened])
      const behind = (row: IncidentRecord): IncidentPlace => [
        String(row.opened_at),
        row.id,
        resolvedAt,
        resolved,
      ]
      const lastOpened = openings.at(-1)
      if (lastOpened !== undefined) {
        place = behind(lastOpened)
        return yield* piece(openings, behind, false)
      }
      const resolutions = yield* page({ state: "resolved" }, "resolved_at", [resolvedAt, resolved])
      const after = (row: IncidentRecord): IncidentPlace => [
        openedAt,
        opened,
        String(row.resolved_at ?? ""),
        row.id,
      ]
      const lastResolved = resolutions.at(-1)
      if (lastResolved !== undefined) place = after(lastResolved)
      const openedBefore = resolutions.filter(({ opened_at }) => opened_at < from || opened_at >= span.to)
      return yield* piece(openedBefore, after, resolutions.length < PIECE)
    })
  }),
})
