import type { AgentId, CheckId, RegistrationId } from "@tocsin/contract/formats/Identifiers"
import {
  dayOf,
  dayWith,
  DELETION,
  DELETIONS_KEPT,
  foldedWith,
  foldParts,
  kindNumber,
  MOST_SERVERS,
  startsIn,
} from "@tocsin/core/features/numbers/NumberPart"
import type {
  NumberStorage,
  KnownSeries,
  PartRef,
  WrittenPart,
} from "@tocsin/core/kernel/ports/NumberStorage"
import { packSpans, unpackSpans } from "@tocsin/core/features/numbers/packSpans"
import type { StorageError } from "@tocsin/core/kernel/ports/Storage"
import { Effect } from "effect"
import type { SqliteConnection } from "../connection/SqliteConnection.ts"

type SeriesRow = readonly [
  agent_id: AgentId,
  registration_id: RegistrationId,
  check_id: CheckId,
  name: string,
  unit: string,
]
const SERIES = "agent_id, registration_id, check_id, name, unit"

const seriesOf = ([agent_id, registration_id, check_id, name, unit]: SeriesRow) => ({
  agent_id,
  registration_id,
  check_id,
  name,
  unit,
})

const findSeries = `SELECT ${SERIES}, newest, id FROM number_series WHERE name <> '${DELETION}'`
export const findSeriesOf = `${findSeries} AND registration_id = ?1 AND check_id = ?2`
/** Series that are read at once: some milliseconds. */
const SERIES_PIECE = 2_000
/** Series in a transaction that folds parts of some servers. */
const FOLDED_TOGETHER = 10

/** CROSS JOIN: SQLite would read the parts of all series, and look for those of the check. */
export const findParts = `SELECT ${SERIES}, kind, start, spans
  FROM number_series CROSS JOIN number_part ON series_id = id
    AND kind = ?4 AND start IN (SELECT value FROM json_each(?5))
  WHERE registration_id = ?1 AND check_id = ?2 AND coalesce(name = ?3, 1)`

type KnownRow = readonly [...SeriesRow, newest: bigint, id: bigint]

const knownOf = ([agent_id, registration, check, name, unit, newest]: KnownRow): KnownSeries => ({
  ...seriesOf([agent_id, registration, check, name, unit]),
  newest: Number(newest),
})

const statements = (connection: SqliteConnection) => ({
  series: connection.query<KnownRow>(`${findSeries} AND id > ? ORDER BY id LIMIT ${SERIES_PIECE}`),
  ofCheck: connection.query<KnownRow>(findSeriesOf),
  /** The id of a series; none if its check is gone, or was deleted since. */
  put: connection.query<readonly [id: bigint]>(
    `INSERT INTO number_series (${SERIES}, newest)
    SELECT agent_id, registration_id, check_id, ?4, ?5, ?6 FROM check_state
    WHERE agent_id = ?1 AND registration_id = ?2 AND check_id = ?3 AND NOT EXISTS (
      SELECT 1 FROM number_series
      WHERE registration_id = ?2 AND check_id = ?3 AND name = '${DELETION}' AND unit = '' AND newest >= ?7)
    ON CONFLICT (registration_id, check_id, name, unit) DO UPDATE SET newest = max(newest, excluded.newest)
    RETURNING id`,
  ),
  find: connection.query<readonly [spans: Uint8Array]>(
    `SELECT spans FROM number_part WHERE kind = ?1 AND start = ?2 AND server = ?3 AND series_id = (
      SELECT id FROM number_series WHERE registration_id = ?4 AND check_id = ?5 AND name = ?6 AND unit = ?7)`,
  ),
  write: connection.query(
    `INSERT INTO number_part (kind, start, series_id, server, spans) VALUES (?, ?, ?, ?, ?)
    ON CONFLICT DO UPDATE SET spans = excluded.spans`,
  ),
  parts: connection.query<readonly [...SeriesRow, kind: bigint, start: bigint, spans: Uint8Array]>(findParts),
  crowded: connection.query<readonly [series: bigint]>(
    `SELECT series_id FROM number_part WHERE kind = ${kindNumber({ kind: "day" })} AND start = ?
    GROUP BY series_id HAVING count(*) > ${MOST_SERVERS}`,
  ),
  ofSeries: connection.query<readonly [server: string, spans: Uint8Array]>(
    "SELECT server, spans FROM number_part WHERE kind = ? AND start = ? AND series_id = ?",
  ),
  remove: connection.query(
    "DELETE FROM number_part WHERE kind = ? AND start = ? AND series_id = ? AND server = ?",
  ),
  expire: connection.query(
    `DELETE FROM number_part WHERE (kind, start, series_id, server) IN (
      SELECT kind, start, series_id, server FROM number_part WHERE kind = ? AND start < ? LIMIT ?)`,
  ),
  expireSeries: connection.query(
    `DELETE FROM number_series AS s WHERE iif(name = '${DELETION}', newest < ?2, newest < ?1 OR NOT EXISTS (
      SELECT 1 FROM check_state AS c
      WHERE c.agent_id = s.agent_id AND c.check_id = s.check_id AND c.registration_id = s.registration_id))`,
  ),
  endSeries: connection.query(
    "DELETE FROM number_series WHERE registration_id = ? AND check_id = ? AND name = ? AND unit = ?",
  ),
  moveBack: connection.query("UPDATE number_series SET newest = ?1 WHERE newest > ?1"),
})

interface Uses {
  readonly read: <A>(use: () => A) => Effect.Effect<A, StorageError>
  readonly write: <A>(use: () => A) => Effect.Effect<A, StorageError>
}

/** Reads and replaces parts of a server. */
const ownParts = ({ find, put, write: writePart }: ReturnType<typeof statements>) => {
  const stored = (server: string, part: PartRef) => {
    const { check_id, name, registration_id, start, unit } = part
    const [spans] = find.get(kindNumber(part), start, server, registration_id, check_id, name, unit) ?? []
    return spans === undefined ? undefined : unpackSpans(spans)
  }
  const replace = (server: string, part: WrittenPart): boolean => {
    const { agent_id, check_id, name, registration_id, since, spans, start, unit } = part
    const [id] = put.get(agent_id, registration_id, check_id, name, unit, start, since) ?? []
    if (id === undefined) return false
    writePart.run(kindNumber(part), start, id, server, packSpans(spans))
    return true
  }
  return { stored, replace }
}

/** Folds parts of servers that are gone, of some series in each transaction. */
const folding = (
  { crowded, ofSeries, remove, write: put }: ReturnType<typeof statements>,
  { read, write }: Uses,
): NumberStorage<StorageError>["fold"] => {
  const foldOne = (of: Pick<PartRef, "kind" | "start">, id: bigint, before: number): void => {
    const place = [kindNumber(of), of.start, id] as const
    const stored = ofSeries.all(...place)
    const parts = stored.map(([server, spans]) => ({ server, spans: unpackSpans(spans) }))
    for (const { server, spans } of foldParts(of, parts, before)) {
      if (spans.some(Boolean)) put.run(...place, server, packSpans(spans))
      else remove.run(...place, server)
    }
  }
  return Effect.fnUntraced(function* ({ before, start }) {
    const found = yield* read(() => crowded.all(start))
    for (let first = 0; first < found.length; first += FOLDED_TOGETHER)
      yield* write(() => {
        for (const [id] of found.slice(first, first + FOLDED_TOGETHER))
          for (const part of foldedWith(start, before)) foldOne(part, id, before)
      })
  })
}

/** All series, in pieces. */
const readAll = (series: ReturnType<typeof statements>["series"], read: Uses["read"]) =>
  Effect.gen(function* () {
    const all: Array<KnownSeries> = []
    let rows: ReadonlyArray<KnownRow>
    let after = 0n
    do {
      rows = yield* read(() => series.all(after))
      for (const row of rows) all.push(knownOf(row))
      after = rows.at(-1)?.[6] ?? after
    } while (rows.length === SERIES_PIECE)
    return all
  })

export const sqliteNumbers = (
  connection: SqliteConnection,
  { read, write }: Uses,
): NumberStorage<StorageError> => {
  const made = statements(connection)
  const { endSeries, expire, expireSeries, moveBack, ofCheck, parts, series } = made
  const { replace, stored } = ownParts(made)
  return {
    series: (of) =>
      of === undefined
        ? readAll(series, read)
        : read(() => ofCheck.all(of.registration_id, of.check_id).map(knownOf)),
    own: (server, asked) =>
      read(() =>
        asked.flatMap((part) => {
          const spans = stored(server, part)
          return spans === undefined ? [] : [{ ...part, spans }]
        }),
      ),
    write: (server, written) =>
      write(() => {
        const gone: Array<WrittenPart> = []
        for (const part of written) {
          const isPresent = replace(server, part)
          const day = dayOf(part)
          if (!isPresent) gone.push(part)
          else if (part.kind === "hour")
            replace(server, { ...day, spans: dayWith(stored(server, day) ?? [], part) })
        }
        return gone
      }),
    endSeries: (ended) =>
      write(() => {
        for (const { check_id, name, registration_id, unit } of ended)
          endSeries.run(registration_id, check_id, name, unit)
      }),
    parts: ({ check_id, from, kinds, name = null, registration_id, to }) =>
      read(() =>
        kinds.flatMap((kind) =>
          parts
            .all(
              registration_id,
              check_id,
              name,
              kindNumber({ kind }),
              JSON.stringify(startsIn(kind, from, to)),
            )
            .map(([agent_id, registration, check, label, unit, , start, spans]) => ({
              ...seriesOf([agent_id, registration, check, label, unit]),
              kind,
              start: Number(start),
              spans: unpackSpans(spans),
            })),
        ),
      ),
    fold: folding(made, { read, write }),
    expire: ({ before, kind, limit }) =>
      write(() => Number(expire.run(kindNumber({ kind }), before, limit).changes) >= limit),
    expireSeries: ({ before, now }) =>
      write(() => {
        expireSeries.run(before, now - DELETIONS_KEPT)
        moveBack.run(now)
      }),
  }
}
