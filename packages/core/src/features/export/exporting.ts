import { Effect, Option, Result, Schema, Stream } from "effect"
import { ValidationError } from "@tocsin/contract/formats/Errors"
import type { ExportKind, ExportParameters } from "@tocsin/contract/export/Export"
import { RateLimited } from "../../heart/admission/AdmissionErrors.ts"
import { decodeBase64Url, encodeBase64Url } from "../../kernel/engine/base64Url.ts"
import type { OpenRows, Place, PlacedRows } from "../../kernel/engine/lists/OpenRows.ts"
import type { Storage, StorageError } from "../../kernel/ports/Storage.ts"
import { StoredCheckResultEvent } from "@tocsin/contract/v1/Resources"
import { NonNegativeInteger } from "@tocsin/contract/formats/Fields"
import { toStoredEvent } from "../../heart/model/CheckRecord.ts"
import type { TimeSpan } from "../../kernel/ports/SettledReads.ts"
import { IncidentId } from "@tocsin/contract/formats/Identifiers"
import * as Instant from "@tocsin/contract/formats/Instant"
import type { IncidentRecord } from "../../heart/model/IncidentRecord.ts"
import type { ListFilters, ListSort } from "../../lists/ListDefinitions.ts"

/** Each reads as fast as its reader takes it. */
const MOST_EXPORTS = 2
const RETRY_SECONDS = 15
/** Rows between two cursors. */
const ROWS_OF_CURSOR = 1_000
const CHECKSUM_DIGITS = 16

const tooMany = new RateLimited({
  message: `this server answers ${MOST_EXPORTS} exports already; try again in ${RETRY_SECONDS} s`,
  retryAfterSeconds: RETRY_SECONDS,
})

const CursorContent = Schema.fromJsonString(
  Schema.Tuple([Schema.String, Schema.Array(Schema.Union([Schema.String, Schema.Finite]))]),
)
const decodeContent = Schema.decodeUnknownResult(CursorContent)

/** Writes and reads cursors, which are bound to their kind. */
const cursorsOf = (kind: ExportKind, sha256: (text: string) => string) => {
  const checksum = (place: Place) => sha256(JSON.stringify(["export", kind, place])).slice(0, CHECKSUM_DIGITS)
  const write = (place: Place): string => encodeBase64Url(JSON.stringify([checksum(place), place]))
  const read = <P extends Place>(
    cursor: string,
    schema: Schema.Codec<P, unknown>,
  ): Result.Result<P, ValidationError> => {
    const content = Result.flatMap(decodeBase64Url(cursor), decodeContent)
    const place = Result.flatMap(content, ([, given]) => Schema.decodeUnknownResult(schema)(given))
    // Several texts decode to one place; only its own is accepted.
    return Result.isSuccess(place) && write(place.success) === cursor
      ? Result.succeed(place.success)
      : Result.fail(new ValidationError({ message: `cursor must be of an export of ${kind}` }))
  }
  return { read, write }
}

/** A row as it is on the wire, or a line with a cursor. */
export type ExportLine = object

/** Exports of rows of each kind, with a cursor after each 1,000 and at the end (docs/rules.md#export). */
export const exporting = (sha256: (text: string) => string) => {
  let underWay = 0
  /** Until its scope closes, an export counts. Its lines come in pieces, each read as it is taken. */
  return Effect.fnUntraced(function* <P extends Place>(
    { cursor, kind, ...span }: ExportParameters,
    { open, place }: OpenRows<P>,
  ) {
    if (span.from > span.to) return yield* new ValidationError({ message: "from must not be after to" })
    const cursors = cursorsOf(kind, sha256)
    const begun = cursor === undefined ? undefined : yield* Effect.fromResult(cursors.read(cursor, place))
    if (underWay >= MOST_EXPORTS) return yield* tooMany
    yield* Effect.acquireRelease(
      Effect.sync(() => void (underWay += 1)),
      () => Effect.sync(() => void (underWay -= 1)),
    )
    const read = yield* open(span, begun)
    let count = 0
    const linesOf = (rows: ReadonlyArray<readonly [object, Place]>): Array<ExportLine> =>
      rows.flatMap(([row, at]) => {
        count += 1
        return count % ROWS_OF_CURSOR === 0 ? [row, { cursor: cursors.write(at) }] : [row]
      })
    return Stream.paginate<undefined, ReadonlyArray<ExportLine>, StorageError>(undefined, () =>
      Effect.map(read, ({ isEnd, place: at, rows }) => {
        const lines = linesOf(rows)
        if (isEnd) lines.push({ cursor: cursors.write(at), end: true })
        return [[lines], isEnd ? Option.none() : Option.some(undefined)] as const
      }),
    )
  })
}

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

const INCIDENTS_TOGETHER = 100

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
            limit: INCIDENTS_TOGETHER,
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
      return yield* piece(openedBefore, after, resolutions.length < INCIDENTS_TOGETHER)
    })
  }),
})
