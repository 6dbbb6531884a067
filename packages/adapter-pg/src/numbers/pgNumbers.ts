import type { AgentId, CheckId, RegistrationId } from "@tocsin/contract/formats/Identifiers"
import {
  dayOf,
  dayWith,
  DELETION,
  DELETIONS_KEPT,
  foldedWith,
  foldParts,
  MOST_SERVERS,
  kindNumber,
  partKey,
  seriesKey,
  startsIn,
} from "@tocsin/core/features/numbers/NumberPart"
import type { NumberStorage, NumberPart, PartRef, WrittenPart } from "@tocsin/core/kernel/ports/NumberStorage"
import { packSpans, unpackSpans } from "@tocsin/core/features/numbers/packSpans"
import type { StorageError } from "@tocsin/core/kernel/ports/Storage"
import { Effect } from "effect"
import type { SqlConnection } from "effect/sql"
import { type Database, indexedTransaction, retryTransient } from "../Database.ts"

const SERIES = "agent_id, registration_id, check_id, name, unit"

// The columns of a row are those of its statement.
const seriesOf = ({ agent_id, check_id, name, registration_id, unit }: SqlConnection.Row) => ({
  agent_id: agent_id as AgentId,
  registration_id: registration_id as RegistrationId,
  check_id: check_id as CheckId,
  name: name as string,
  unit: unit as string,
})
const hexOf = ({ spans }: Pick<NumberPart, "spans">) => Buffer.from(packSpans(spans)).toString("hex")
const spansOf = (row: SqlConnection.Row) => unpackSpans(row["spans"] as Uint8Array)

const findSeries = `SELECT ${SERIES}, newest FROM number_series WHERE name <> '${DELETION}'`
export const findSeriesOf = `${findSeries} AND registration_id = $1 AND check_id = $2`

/** Which of these are of a check that is there, and was not deleted since. It stays until the transaction ends. */
const findPresent = `SELECT n
  FROM unnest($1::text[], $2::uuid[], $3::text[], $4::bigint[])
    WITH ORDINALITY AS given (agent_id, registration_id, check_id, since, n)
  JOIN check_state AS c USING (agent_id, registration_id, check_id)
  WHERE NOT EXISTS (
    SELECT FROM number_series AS s
    WHERE s.registration_id = given.registration_id AND s.check_id = given.check_id
      AND s.name = '${DELETION}' AND s.unit = '' AND s.newest >= given.since)
  FOR KEY SHARE OF c`

/** The ids of series, in the order of their numbers, so that two servers do not wait in a circle. */
const putSeries = `INSERT INTO number_series AS s (${SERIES}, newest)
  SELECT ${SERIES}, max(newest)
  FROM unnest($1::text[], $2::uuid[], $3::text[], $4::text[], $5::text[], $6::bigint[]) AS given (${SERIES}, newest)
  GROUP BY ${SERIES} ORDER BY registration_id, check_id, name, unit
  ON CONFLICT (registration_id, check_id, name, unit) DO UPDATE SET newest = greatest(s.newest, excluded.newest)
  RETURNING id, ${SERIES}`

/**
 * Locked, so that a fold between this and the write is seen. OFFSET 0: without statistics, PostgreSQL would read the parts of all series of an hour for each
 * that is asked for.
 */
export const findOwn = `SELECT n, spans
  FROM unnest($2::int[], $3::bigint[], $4::uuid[], $5::text[], $6::text[], $7::text[])
    WITH ORDINALITY AS given (kind, start, registration_id, check_id, name, unit, n)
  CROSS JOIN LATERAL (
    SELECT id FROM number_series AS s
    WHERE s.registration_id = given.registration_id AND s.check_id = given.check_id
      AND s.name = given.name AND s.unit = given.unit OFFSET 0) AS s
  CROSS JOIN LATERAL (
    SELECT spans FROM number_part AS p
    WHERE p.kind = given.kind AND p.start = given.start AND p.series_id = s.id AND p.server = $1
    OFFSET 0 FOR UPDATE) AS p`

const writeParts = `INSERT INTO number_part (kind, start, series_id, server, spans)
  SELECT kind, start, series_id, server, decode(spans, 'hex')
  FROM unnest($1::uuid[], $2::int[], $3::bigint[], $4::bigint[], $5::text[])
    AS given (server, kind, start, series_id, spans)
  ON CONFLICT (kind, start, series_id, server) DO UPDATE SET spans = excluded.spans`

/** OFFSET 0: PostgreSQL would read the parts of all series, and look for those of the check. */
export const findParts = `SELECT ${SERIES}, p.start, p.spans FROM number_series AS s
  CROSS JOIN unnest($5::bigint[]) AS given (start)
  CROSS JOIN LATERAL (
    SELECT start, spans FROM number_part WHERE kind = $4 AND start = given.start AND series_id = s.id OFFSET 0) AS p
  WHERE registration_id = $1 AND check_id = $2 AND ($3::text IS NULL OR name = $3)`

const findCrowded = `SELECT series_id FROM number_part WHERE kind = ${kindNumber({ kind: "day" })} AND start = $1
  GROUP BY series_id HAVING count(*) > ${MOST_SERVERS}`

/** Locked in the order of the table's key. OFFSET 0: as for {@link findOwn}. */
export const lockParts = `SELECT n, given.series_id, server, spans
  FROM (
    SELECT kind, start, series_id, n
    FROM unnest($1::int[], $2::bigint[]) WITH ORDINALITY AS part (kind, start, n), unnest($3::bigint[]) AS series_id
    ORDER BY kind, start, series_id) AS given
  CROSS JOIN LATERAL (
    SELECT server, spans FROM number_part AS p
    WHERE p.kind = given.kind AND p.start = given.start AND p.series_id = given.series_id
    ORDER BY server OFFSET 0 FOR UPDATE) AS p`

/** Of parts that {@link lockParts} has locked, so that none moves meanwhile. */
export const removeParts = `DELETE FROM number_part WHERE ctid = ANY (ARRAY(
  SELECT p.ctid FROM unnest($1::uuid[], $2::int[], $3::bigint[], $4::bigint[]) AS given (server, kind, start, series_id)
  CROSS JOIN LATERAL (
    SELECT ctid FROM number_part AS p
    WHERE p.kind = given.kind AND p.start = given.start AND p.series_id = given.series_id AND p.server = given.server
    OFFSET 0) AS p))`

const expireParts = `WITH expired AS (
    DELETE FROM number_part WHERE (kind, start, series_id, server) IN (
      SELECT kind, start, series_id, server FROM number_part WHERE kind = $1 AND start < $2
      ORDER BY start LIMIT $3 FOR UPDATE SKIP LOCKED)
    RETURNING 1)
  SELECT count(*)::int AS removed FROM expired`

const expireSeries = `DELETE FROM number_series AS s
  WHERE CASE WHEN name = '${DELETION}' THEN newest < $2 ELSE newest < $1 OR NOT EXISTS (
    SELECT FROM check_state AS c
    WHERE c.agent_id = s.agent_id AND c.check_id = s.check_id AND c.registration_id = s.registration_id) END`

const endSeries = `DELETE FROM number_series AS s
  USING unnest($1::uuid[], $2::text[], $3::text[], $4::text[]) AS given (registration_id, check_id, name, unit)
  WHERE s.registration_id = given.registration_id AND s.check_id = given.check_id
    AND s.name = given.name AND s.unit = given.unit`

const moveBack = "UPDATE number_series SET newest = $1 WHERE newest > $1"

type Pg = Database["pg"]

/** Series in a transaction that folds parts of some servers. */
const FOLDED_TOGETHER = 50

const ownParts = Effect.fnUntraced(function* (pg: Pg, server: string, asked: ReadonlyArray<PartRef>) {
  const rows = yield* pg.query(findOwn, [
    server,
    asked.map(kindNumber),
    asked.map(({ start }) => start),
    asked.map(({ registration_id }) => registration_id),
    asked.map(({ check_id }) => check_id),
    asked.map(({ name }) => name),
    asked.map(({ unit }) => unit),
  ])
  return rows.flatMap((row): ReadonlyArray<NumberPart> => {
    const part = asked[Number(row["n"]) - 1]
    return part === undefined ? [] : [{ ...part, spans: spansOf(row) }]
  })
})

const replaceParts = Effect.fnUntraced(function* (pg: Pg, server: string, given: ReadonlyArray<WrittenPart>) {
  const found = yield* pg.query(findPresent, [
    given.map(({ agent_id }) => agent_id),
    given.map(({ registration_id }) => registration_id),
    given.map(({ check_id }) => check_id),
    given.map(({ since }) => since),
  ])
  const isPresent = new Set(found.map((row) => Number(row["n"]) - 1))
  const hours = given.filter((_, index) => isPresent.has(index))
  if (hours.length > 0) yield* putParts(pg, server, hours)
  return given.filter((_, index) => !isPresent.has(index))
})

const putParts = Effect.fnUntraced(function* (pg: Pg, server: string, hours: ReadonlyArray<NumberPart>) {
  const days = new Map<string, NumberPart>()
  const of = hours.filter(({ kind }) => kind === "hour")
  for (const day of yield* ownParts(pg, server, of.map(dayOf))) days.set(partKey(day), day)
  for (const part of of) {
    const day = dayOf(part)
    days.set(partKey(day), { ...day, spans: dayWith(days.get(partKey(day))?.spans ?? [], part) })
  }
  const parts = [...hours, ...days.values()]
  const series = yield* pg.query(putSeries, [
    parts.map(({ agent_id }) => agent_id),
    parts.map(({ registration_id }) => registration_id),
    parts.map(({ check_id }) => check_id),
    parts.map(({ name }) => name),
    parts.map(({ unit }) => unit),
    parts.map(({ start }) => start),
  ])
  const ids = new Map(series.map((row) => [seriesKey(seriesOf(row)), row["id"]]))
  yield* pg.query(writeParts, [
    parts.map(() => server),
    parts.map(kindNumber),
    parts.map(({ start }) => start),
    parts.map((part) => ids.get(seriesKey(part))),
    parts.map(hexOf),
  ])
})

/** Folds the parts of a day of some series, and those of its hours. */
const foldSeries = Effect.fnUntraced(function* (
  pg: Pg,
  series: ReadonlyArray<unknown>,
  { before, start: day }: { readonly before: number; readonly start: number },
) {
  const all = foldedWith(day, before)
  const rows = yield* pg.query(lockParts, [all.map(kindNumber), all.map(({ start }) => start), series])
  const groups = Map.groupBy(rows, (row) => `${row["n"]} ${row["series_id"]}`)
  const changed = Array.from(groups.values()).flatMap((stored) => {
    const of = all[Number(stored[0]?.["n"]) - 1]
    // Columns of the statement.
    const parts = stored.map((row) => ({ server: row["server"] as string, spans: spansOf(row) }))
    const id = stored[0]?.["series_id"]
    return of === undefined ? [] : foldParts(of, parts, before).map((part) => ({ ...part, ...of, id }))
  })
  const [kept = [], gone = []] = [true, false].map((has) =>
    changed.filter(({ spans }) => spans.some(Boolean) === has),
  )
  const keysOf = (some: typeof changed) => [
    some.map(({ server }) => server),
    some.map(kindNumber),
    some.map(({ start }) => start),
    some.map(({ id }) => id),
  ]
  yield* pg.query(removeParts, keysOf(gone))
  yield* pg.query(writeParts, [...keysOf(kept), kept.map(hexOf)])
})

export const pgNumbers = (database: Database): NumberStorage<StorageError> => {
  const { pg } = database
  return {
    series: (of) =>
      retryTransient(
        Effect.map(
          of === undefined
            ? pg.query(findSeries, [])
            : pg.query(findSeriesOf, [of.registration_id, of.check_id]),
          (rows) => rows.map((row) => ({ ...seriesOf(row), newest: Number(row["newest"]) })),
        ),
      ),
    own: (server, asked) => retryTransient(ownParts(pg, server, asked)),
    write: (server, parts) => retryTransient(indexedTransaction(database, replaceParts(pg, server, parts))),
    endSeries: (ended) =>
      retryTransient(
        pg.query(endSeries, [
          ended.map(({ registration_id }) => registration_id),
          ended.map(({ check_id }) => check_id),
          ended.map(({ name }) => name),
          ended.map(({ unit }) => unit),
        ]),
      ).pipe(Effect.asVoid),
    parts: ({ check_id, from, kinds, name = null, registration_id, to }) =>
      Effect.map(
        Effect.forEach(kinds, (kind) =>
          Effect.map(
            retryTransient(
              pg.query(findParts, [
                registration_id,
                check_id,
                name,
                kindNumber({ kind }),
                startsIn(kind, from, to),
              ]),
            ),
            (rows) =>
              rows.map((row) => ({
                ...seriesOf(row),
                kind,
                start: Number(row["start"]),
                spans: spansOf(row),
              })),
          ),
        ),
        (found) => found.flat(),
      ),
    fold: Effect.fnUntraced(function* (day) {
      const found = yield* retryTransient(pg.query(findCrowded, [day.start]))
      const series = found.map((row) => row["series_id"])
      for (let first = 0; first < series.length; first += FOLDED_TOGETHER) {
        const some = series.slice(first, first + FOLDED_TOGETHER)
        yield* retryTransient(indexedTransaction(database, foldSeries(pg, some, day)))
      }
    }),
    expire: ({ before, kind, limit }) =>
      retryTransient(
        Effect.map(
          pg.query(expireParts, [kindNumber({ kind }), before, limit]),
          ([row]) => Number(row?.["removed"]) >= limit,
        ),
      ),
    expireSeries: ({ before, now }) =>
      retryTransient(
        Effect.andThen(pg.query(expireSeries, [before, now - DELETIONS_KEPT]), pg.query(moveBack, [now])),
      ).pipe(Effect.asVoid),
  }
}
