import { Effect, Option, Result, Schema, Stream } from "effect"
import { ValidationError } from "@tocsin/contract/formats/Errors"
import type { ExportKind, ExportParameters } from "@tocsin/contract/export/Export"
import { RateLimited } from "../../heart/admission/AdmissionErrors.ts"
import { decodeBase64Url, encodeBase64Url } from "../../kernel/engine/base64Url.ts"
import type { OpenRows, Place } from "../../kernel/engine/lists/OpenRows.ts"
import type { StorageError } from "../../kernel/ports/Storage.ts"

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
